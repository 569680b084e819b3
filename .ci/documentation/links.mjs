// Fails if a link of a built page leads to a missing file or anchor. Ignores links to the web, and the documentation that other crates
// write for their traits. `node links.mjs target/doc`
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { resolve, dirname, join, relative } from 'node:path';

const doc = resolve(process.argv[2]);
const crates = ['envd_sdk', 'envd_sync', 'envd_postgres', 'envd_codegen'].map(name => join(doc, name));
const isOwn = file => crates.some(crate => file.startsWith(`${crate}/`));
const pages = new Map();

const plain = text => decodeURIComponent(text.replace(/\+/g, ' ')).replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

// A page and its anchors. For pages of other crates and of the source, only existence is checked.
function read(file) {
    if (!pages.has(file)) {
        const html = existsSync(file) && (isOwn(file) ? readFileSync(file, 'utf8') : '');
        pages.set(file, html !== false && { html, ids: new Set([...html.matchAll(/ id="([^"]*)"/g)].map(match => plain(match[1]))) });
    }
    return pages.get(file);
}

// Other crates link to the module that declares an item; if the module is private, that page redirects.
function follow(file) {
    const [, to] = (read(file) || { html: '' }).html.match(/http-equiv="refresh" content="0;URL=([^"]*)"/) ?? [];
    return to ? resolve(dirname(file), to) : file;
}

const files = crates.flatMap(crate => readdirSync(crate, { recursive: true }).map(name => join(crate, name)));
const own = files.filter(name => name.endsWith('.html'));
let links = 0;
const broken = new Set();
for (const file of own) {
    const [html] = read(file).html.split('id="blanket-implementations"');
    for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        links += 1;
        const [path, anchor] = plain(href).split('#');
        const target = path ? follow(resolve(dirname(file), path)) : file;
        const page = read(target);
        const isThere = page && (!anchor || !isOwn(target) || page.ids.has(anchor));
        if (!isThere) broken.add(`FAILED: ${relative(doc, file)}: ${href}`);
    }
}
broken.forEach(line => console.error(line));
console.log(`${own.length} pages, ${links} links, ${broken.size} broken`);
process.exitCode = broken.size > 0 ? 1 : 0;
