// What a reader and a generator find in the descriptions: of every operation and every field what
// it is, and an example that its own schema takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { goldenDescriptions } from './describe.ts';

const { api, account } = await goldenDescriptions();
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const formats = { uuid, 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ };

const pointed = (part: string) => encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'));

type Node = Readonly<Record<string, unknown>>;

for (const [name, text] of Object.entries({ api, account })) {
  const whole = JSON.parse(text) as Node & { components: Node; tags: Node[] };
  const ajv = new Ajv({ strict: false, formats });
  ajv.addSchema(whole, 'whole');
  const at = (path: readonly string[]) => `#/${path.map(pointed).join('/')}`;
  const resolved = (node: Node): Node => {
    if (typeof node.$ref !== 'string') return node;
    const parts = node.$ref.slice(2).split('/');
    return parts.reduce((found, part) => found[part] as Node, whole as Node);
  };
  /** Calls `see` for everything inside. */
  const walk = (
    node: unknown,
    path: readonly string[],
    see: (node: Node, path: string[]) => void,
  ) => {
    if (typeof node !== 'object' || node === null) return;
    see(node as Node, [...path]);
    for (const [key, part] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') walk(part, [...path, key], see);
    }
  };

  test(`${name}: every operation, parameter, tag and field says what it is`, () => {
    let fields = 0;
    walk(whole, [], (node, path) => {
      const where = path.join(' ');
      if ('operationId' in node && path[0] === 'paths' && path.length === 3) {
        assert.match(String(node.summary), /\w/, where);
        assert.match(String(node.description), /\w.*\.$/, where);
        for (const tag of node.tags as string[]) {
          assert.ok(
            whole.tags.some((each) => each.name === tag && each.description),
            tag,
          );
        }
      }
      if ('in' in node && 'name' in node) assert.ok(node.description, where);
      if (node.type !== 'object' || typeof node.properties !== 'object') return;
      for (const [field, part] of Object.entries(node.properties as Record<string, Node>)) {
        fields += 1;
        assert.ok(part.description ?? resolved(part).description, `${where} ${field}`);
      }
    });
    assert.ok(fields > 100, `${fields} fields`);
  });

  test(`${name}: every example is one of its schema, and every field and body has one`, () => {
    let examples = 0;
    const fits = (value: unknown, path: readonly string[]) => {
      const check = ajv.getSchema(`whole${at(path)}`);
      assert.ok(check !== undefined, at(path));
      assert.ok(check(value), `${at(path)}: ${ajv.errorsText(check.errors)}`);
      examples += 1;
    };
    walk(whole, [], (node, path) => {
      if (path.at(-1) === 'application/json') {
        const all = 'example' in node ? [node.example] : Object.values(node.examples as Node);
        assert.ok(all.length > 0, at(path));
        for (const each of all) {
          fits('example' in node ? each : (each as Node).value, [...path, 'schema']);
        }
      } else if (('in' in node && 'name' in node) || path.at(-2) === 'headers') {
        if ('$ref' in node) return;
        if ('schema' in node) fits(node.example, [...path, 'schema']);
      } else if (Array.isArray(node.examples)) {
        for (const each of node.examples) fits(each, path);
      }
      if (typeof node.type === 'string' && /string|integer|number|boolean/.test(node.type)) {
        const above = path.at(-1) === 'schema' || path.includes('anyOf');
        assert.ok(above || Array.isArray(node.examples) || 'const' in node, at(path));
      }
    });
    assert.ok(examples > 100, `${examples} examples`);
  });
}
