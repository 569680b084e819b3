// Writes graphiql.js.gz, graphiql.css.gz and LICENSES.txt: npm ci && npm run build
//
// Uses Preact instead of React, and leaves the fonts out: with both, GraphiQL is three times as large.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const result = await build({
  entryPoints: ['page.js'],
  bundle: true,
  minify: true,
  target: 'es2020',
  outfile: 'graphiql.js',
  write: false,
  metafile: true,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  alias: {
    react: 'preact/compat',
    'react-dom': 'preact/compat',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
});

for (const file of result.outputFiles) {
  const name = file.path.endsWith('.css') ? 'graphiql.css' : 'graphiql.js';
  const text = file.text.replace(/@font-face\{[^}]*\}/g, '');
  writeFileSync(`${name}.gz`, gzipSync(text, { level: 9 }));
}

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/);
  if (found) packages.add(found[0]);
}
// Groups packages with the same licence text.
const byText = new Map();
for (const folder of [...packages].sort()) {
  const { name, version, license, author, homepage } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const by = [author?.name ?? author, homepage].filter(Boolean).join(', ');
  const text = file ? readFileSync(`${folder}/${file}`, 'utf8').trim() : `The package has no file with its licence. ${by}`;
  byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}: ${license}`]);
}
const texts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
writeFileSync('LICENSES.txt', texts.join(`\n${'-'.repeat(80)}\n\n`));
