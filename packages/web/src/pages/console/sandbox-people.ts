import type { SandboxPerson } from '@phds/catalog/sandbox';

/** The text about the data of each made-up person. */
export const PEOPLE_TEXTS = {
  ada: 'personAda',
  ben: 'personBen',
  cleo: 'personCleo',
  dora: 'personDora',
} as const satisfies Record<SandboxPerson, string>;
