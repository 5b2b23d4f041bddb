import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const GUIDES = new URL('../../../docs/partners/', import.meta.url);
const API = new URL('../../../services/gateway/openapi.json', import.meta.url);

/** The values of each property that has the same enumeration everywhere in the interface. */
function readEnumerations(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  const document = JSON.parse(readFileSync(API, 'utf8'));
  const visit = (node: unknown, name: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { $ref = '', enum: own } = node as { readonly $ref?: string; readonly enum?: unknown };
    const values = own ?? document.components.schemas[$ref.replace('#/components/schemas/', '')]?.enum;
    if (Array.isArray(values))
      found.set(name, (found.get(name) ?? new Set()).add(values.filter(Boolean).join(' ')));
    for (const [key, child] of Object.entries(node))
      visit(child, /^(anyOf|items|\d+)$/.test(key) ? name : key);
  };
  visit(document, '');
  const unique = [...found].filter(
    ([, [first = '', ...others]]) => others.length === 0 && first.includes(' '),
  );
  return new Map(unique.map(([name, [first = '']]) => [name, first.split(' ')]));
}

const ENUMERATIONS = [...readEnumerations()];
const files = readdirSync(GUIDES).filter(
  (file) => file.endsWith('.md') && !/^(reference|problems|changelog)/.test(file),
);

test.each(files)('%s names every value of an enumeration of which it lists several', (file) => {
  const lines = readFileSync(new URL(file, GUIDES), 'utf8').split('\n');
  const missing = ENUMERATIONS.flatMap(([name, values]) => {
    const about = lines.filter((line) => line.includes(`\`${name}\``)).join('\n');
    const listed = values.filter((value) => about.includes(`\`${value}\``));
    return listed.length < 3
      ? []
      : values.filter((value) => !listed.includes(value)).map((value) => `${name}: ${value}`);
  });
  expect(missing).toEqual([]);
  expect(ENUMERATIONS.length).toBeGreaterThan(10);
});
