import { expect, test } from '@jest/globals';
import { findText } from '../src/repository.ts';

const page = findText('docs/deploying.md') ?? '';
const shared = findText('packages/service-kit/src/config.ts') ?? '';

/** The names in the first columns of the tables below a heading. */
function listDocumented(heading: string): string[] {
  const section = page.split(`\n### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '';
  const cells = [...section.matchAll(/^\| (`[^|]+)\|/gm)].map(([, cell]) => cell ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''));
}

function listDeclared(source: string): string[] {
  return [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? '');
}

const everywhere = [
  ...listDocumented('Every service'),
  ...listDocumented('authorization, consent and health-data'),
];

test('the deployment page lists the settings that all services share', () => {
  const ports = ['RPC_PORT', 'PROBE_PORT', 'CONNECT_PORT'];
  expect(everywhere.toSorted()).toEqual([...listDeclared(shared), ...ports].toSorted());
});

test.each(['gateway', 'authorization', 'consent', 'health-data'])(
  'the deployment page lists exactly the settings of %s',
  (service) => {
    const own = listDeclared(findText(`services/${service}/src/config.ts`) ?? '');
    const notShared = own.filter((name) => !everywhere.includes(name));
    expect(listDocumented(service).toSorted()).toEqual(notShared.toSorted());
  },
);
