import { expect, test } from '@jest/globals';
import type { AppChange } from '../src/api/resources.ts';
import { changesText } from '../src/pages/apps/changes-text.ts';

const changeOf = (field: AppChange['field']): AppChange => ({
  field,
  from: 'a',
  to: 'b',
  at: '2026-03-01T12:00:00.000Z',
});

test.each([
  [['name'], 'its name'],
  [['homepageUrl', 'privacyPolicyUrl'], 'its links'],
  [['developerName', 'description'], 'its description and the name of its developer'],
  [['description', 'homepageUrl', 'name'], 'its name, its description and its links'],
] as const)('changes of %j are summed up as a change of %s', (fields, parts) => {
  expect(changesText(fields.map(changeOf))).toBe(`Has changed ${parts} since you agreed`);
});
