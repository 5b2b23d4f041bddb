import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '../src/repository.ts';
import { plants } from './forbidden-imports.ts';
import { type Complaint, PlantedTree, type Sources } from './planted-tree.ts';

/** The files that the planted imports refer to, which violate no rule themselves. */
const soil: Sources = {
  'services/beta/src/own.ts': 'export const own = 1;\n',
  'services/alpha/src/domain/hen.ts':
    "import type { Egg } from './egg.ts';\nexport type Hen = { egg: Egg };\n",
};

const planted: Sources = Object.assign({}, ...Object.values(plants));

function ruleNames(): string[] {
  const load = createRequire(import.meta.url);
  const rules = load(path.join(repositoryRoot, '.dependency-cruiser.cjs')) as {
    forbidden: { name: string }[];
  };
  return rules.forbidden.map(({ name }) => name);
}

describe('import rules', () => {
  let complaints: Complaint[];

  beforeAll(async () => {
    using tree = new PlantedTree({ ...soil, ...planted });
    complaints = await tree.complaints();
  });

  test.each(Object.entries(plants))('%s refuses each import planted for it', (rule, files) => {
    const refused = complaints.filter((complaint) => complaint.rule === rule).map(({ from }) => from);
    expect(refused).toEqual(expect.arrayContaining(Object.keys(files)));
  });

  test('every rule has a planted violation', () => {
    expect(new Set(Object.keys(plants))).toEqual(new Set(ruleNames()));
  });

  test('the rules report nothing but the planted violations', () => {
    expect(complaints.filter(({ from }) => !(from in planted))).toEqual([]);
  });

  test('the rules report nothing for a correct tree', async () => {
    using tree = new PlantedTree({});
    expect(await tree.complaints()).toEqual([]);
  });
});
