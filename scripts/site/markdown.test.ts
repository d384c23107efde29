// Documents as pages of the site: names, links, pictures, and text that is no tag.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { withoutScripts } from './build.ts';
import { anchorOf, indexForModels, menuOf, nameOf, pageOf } from './markdown.ts';

const titles = new Map([['docs/release.md', 'The release']]);

test('a document has one page, wherever it lies', () => {
  assert.equal(nameOf('docs/README.md'), 'index');
  assert.equal(nameOf('docs/api.md'), 'api');
  assert.equal(nameOf('docs/vectors/README.md'), 'vectors');
  assert.equal(nameOf('packages/sdk/README.md'), 'sdk');
  assert.equal(nameOf('apps/market/db/schema.sql'), null);
});

test('links lead to pages, to what the market serves, or nowhere', () => {
  const { text, pictures } = pageOf(
    'docs/a.md',
    '[release.md](release.md#x) [SDK](../packages/sdk/README.md) [up](#up) [web](https://a.example)\n' +
      '[spec](openapi.json) [sql](../apps/market/db/schema.sql) ![one](pictures/one.png)\n',
    titles,
  );
  assert.equal(
    text,
    '[The release](/release#x) [SDK](/sdk) [up](#up) [web](https://a.example)\n' +
      '<a href="/v1/openapi.json" target="_self">spec</a> sql ![one](/docs/pictures/one.png)\n',
  );
  assert.deepEqual(pictures, ['docs/pictures/one.png']);
});

test('text is no tag, and code stays as it is', () => {
  const code = '```sh\na < b [x](y.md)\n```';
  const { text } = pageOf('docs/a.md', `a <b> \`<c>\`\n\n${code}\n`, titles);
  assert.equal(text, `a &lt;b> \`<c>\`\n\n${code}\n`);
});

test('the menu has the groups of the index, and an anchor is that of GitHub', () => {
  const index =
    '**Use**: a trader\n- [API](api.md): all.\n- Of [A](../packages/sdk/README.md) and B.\n';
  assert.deepEqual(menuOf(index), [
    {
      text: 'Use',
      items: [
        { text: 'API', link: '/api' },
        { text: 'A', link: '/sdk' },
      ],
    },
  ]);
  assert.equal(anchorOf("The server's own key"), 'the-servers-own-key');
});

test('a script of a page goes into a file, one for all that are alike', () => {
  const scripts = new Map<string, string>();
  const page = '<script id="a">one()</script><script type="module" src="/docs/b.js"></script>';
  const moved = withoutScripts(page, scripts);
  assert.match(
    moved,
    /^<script id="a" src="\/docs\/assets\/page\.\w{12}\.js"><\/script><script type/,
  );
  withoutScripts(page, scripts);
  assert.deepEqual([...scripts.values()], ['one()']);
});

test('the index for language models leads from each line to a page of the market', () => {
  const index = indexForModels(readFileSync('docs/README.md', 'utf8'));
  assert.match(index, /^# Parley\n\n[A-Z]/);
  assert.match(index, /^## Build\n\n- \[Using the API\]\(\/docs\/api\): a key, /m);
  const places = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, place = '']) => place);
  for (const place of places) {
    assert.match(place, /^\/docs\/[a-z/-]+$|^\/(?:v1|account)\/[a-z]+\.json$/);
  }
});
