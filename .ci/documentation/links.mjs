// Fails where a link of a built page leads to a file or an anchor that is not there. Links to the web are left out, and so is what other
// crates say of their traits. `node links.mjs target/doc`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { resolve, dirname, join } from 'node:path';

const doc = resolve(process.argv[2]);
const crate = join(doc, 'envd_sdk');
const pages = new Map();

const plain = text => decodeURIComponent(text.replace(/\+/g, ' ')).replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

// A page and its anchors. Those of other crates, and of the source, are only there.
function read(file) {
    if (!pages.has(file)) {
        const html = existsSync(file) && (file.startsWith(crate) ? readFileSync(file, 'utf8') : '');
        pages.set(file, html !== false && { html, ids: new Set([...html.matchAll(/ id="([^"]*)"/g)].map(match => plain(match[1]))) });
    }
    return pages.get(file);
}

const names = readdirSync(crate, { recursive: true }).filter(name => name.endsWith('.html'));
let links = 0;
const broken = new Set();
for (const name of names) {
    const file = join(crate, name);
    const [own] = read(file).html.split('id="blanket-implementations"');
    for (const [, href] of own.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        links += 1;
        const [path, anchor] = plain(href).split('#');
        const target = path ? resolve(dirname(file), path) : file;
        const page = read(target);
        const isThere = page && (!anchor || !target.startsWith(crate) || page.ids.has(anchor));
        if (!isThere) broken.add(`FAILED: ${name}: ${href}`);
    }
}
broken.forEach(line => console.error(line));
console.log(`${names.length} pages, ${links} links, ${broken.size} broken`);
process.exitCode = broken.size > 0 ? 1 : 0;
