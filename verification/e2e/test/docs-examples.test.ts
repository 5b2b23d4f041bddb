import { beforeAll, expect, test } from '@jest/globals';
import { PROBLEM_CODES, type ProblemCode } from '@phds/catalog/problems';
import { problems } from '@phds/docs/problem-examples';
import type { Recorded } from '@phds/docs/recorded';
import { recordProblems } from '@phds/e2e/examples/problems';
import { toComparable } from '@phds/e2e/examples/recorder';
import { useSharedStack } from '@phds/running-system/shared-stack';

const WITHOUT_EXAMPLE: readonly ProblemCode[] = [
  'TOKEN_EXPIRED',
  'STEP_UP_REQUIRED',
  'RATE_LIMITED',
  'ACCESS_NOT_RECORDED',
  'INTERNAL_ERROR',
];

let fresh: ReadonlyMap<ProblemCode, Recorded>;

beforeAll(async () => {
  fresh = await recordProblems(await useSharedStack());
});

test('every error code has a recorded example, except those that need a failure or much time', () => {
  expect(PROBLEM_CODES.filter((code) => problems[code] === undefined)).toEqual(WITHOUT_EXAMPLE);
});

test.each(PROBLEM_CODES.filter((code) => problems[code] !== undefined))(
  'the example of %s in the documentation is still answered like that',
  (code) => {
    const recorded = problems[code] as Recorded;
    expect((recorded.answer.body as { code: string }).code).toBe(code);
    expect(toComparable(fresh.get(code) as Recorded)).toEqual(toComparable(recorded));
  },
);
