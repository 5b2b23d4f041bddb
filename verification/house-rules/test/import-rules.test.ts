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

function plantedSources(): Sources {
  return { ...soil, ...Object.fromEntries(plants.map(([, file, code]) => [file, `${code}\n`])) };
}

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
    using tree = new PlantedTree(plantedSources());
    complaints = await tree.complaints();
  });

  test.each(plants)('%s refuses the import planted in %s', (rule, from, _code, to) => {
    expect(complaints.filter((complaint) => complaint.from === from)).toContainEqual({ rule, from, to });
  });

  test('every rule has a planted violation', () => {
    expect(new Set(plants.map(([rule]) => rule))).toEqual(new Set(ruleNames()));
  });

  test('the rules report nothing but the planted violations', () => {
    const planted = new Set(plants.map(([, file]) => file));
    expect(complaints.filter(({ from }) => !planted.has(from))).toEqual([]);
  });

  test('the rules report nothing for a correct tree', async () => {
    using tree = new PlantedTree({});
    expect(await tree.complaints()).toEqual([]);
  });
});
