// Searches the built documentation for each word of words.txt, with the search script of its pages. Fails if the item of the line is
// not among the first ten results of its crate. `node search.mjs target/doc`
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import vm from 'node:vm';

// An item without a crate name belongs to the first crate.
const CRATES = ['envd_sdk', 'envd_sync', 'envd_postgres', 'envd_codegen'];
const SHOWN = 10;

const doc = resolve(process.argv[2]);
const require = createRequire(`${doc}/`);
const files = readdirSync(`${doc}/static.files`);
const script = name => require(`./static.files/${files.find(file => file.startsWith(`${name}-`) && file.endsWith('.js'))}`);
const run = path => vm.runInThisContext(readFileSync(`${doc}/search.index/${path}.js`, 'utf8'));

// In a browser, storage.js defines these.
globalThis.nonnull = globalThis.nonundef = value => value;
const { Stringdex, RoaringBitmap } = script('stringdex');
const { docSearch, DocSearch } = await script('search').initSearch(Stringdex, RoaringBitmap, {
    loadRoot: callbacks => {
        Object.assign(globalThis, callbacks);
        run('root');
    },
    loadTreeByHash: hash => run(hash),
    loadDataByNameAndHash: (name, hash) => run(`${name}/${hash}`),
});

// docs.rs searches each crate separately, so only items of the same crate count.
async function search(word, crate) {
    const found = [];
    const { others } = await docSearch.execQuery(DocSearch.parseQuery(word), crate, crate);
    for await (const { displayPath, item } of others) {
        const path = displayPath.replace(/<[^>]*>/g, '') + item.name;
        found.push(path.replace(`${crate}::`, ''));
        if (found.length === SHOWN) break;
    }
    return found;
}

let words = 0;
let missing = 0;
for (const line of readFileSync(new URL('words.txt', import.meta.url), 'utf8').split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const [path, list] = line.split(': ');
    const crate = CRATES.find(name => path.startsWith(`${name}::`)) ?? CRATES[0];
    const item = path.replace(`${crate}::`, '');
    for (const word of list.split(', ')) {
        words += 1;
        const found = await search(word, crate);
        if (found.includes(item)) continue;
        missing += 1;
        console.error(`FAILED: the search for "${word}" does not find ${path}, but ${found.slice(0, 3).join(', ') || 'nothing'}`);
    }
}
if (missing > 0) {
    console.error(`${missing} of ${words} searches fail: put #[doc(alias)] on the item, or on its \`pub use\` if its module is private`);
    process.exit(1);
}
console.log(`${words} searches`);
