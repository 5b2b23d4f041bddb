import { expect, test } from '@jest/globals';
import { findText, listFiles } from '../src/repository.ts';

const SOURCE = /^services\/(authorization|consent|health-data)\/src\/.*\/([a-z-]+)\.ts$/;
const FACTORY = /^export (?:async )?function create([A-Z]\w*)/gm;

function toKebabCase(name: string): string {
  return name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

test('a factory of a service is in the file with its name (docs/service-shape.md)', () => {
  const factories = listFiles().flatMap((file) => {
    const [, , name = ''] = SOURCE.exec(file) ?? [];
    if (name === '') return [];
    const created = [...(findText(file) ?? '').matchAll(FACTORY)].map(([, noun = '']) => toKebabCase(noun));
    return created.map((noun) => ({ file, name, noun }));
  });
  expect(factories.length).toBeGreaterThan(50);
  expect(factories.filter(({ name, noun }) => name !== noun)).toEqual([]);
});
