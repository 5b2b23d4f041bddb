import { expect, test } from '@jest/globals';
import { PROBLEM_CODES, type ProblemCode } from '@phds/catalog/problems';
import { answers, problems, type Recorded } from '@phds/docs/recorded';
import { useSharedSandbox } from '@phds/running-system/shared-stack';
import { AnswerContract } from '@phds/test-kit/answer-contract';
import { recordProblems } from '../src/examples/problems.ts';
import { toComparable } from '../src/examples/recorder.ts';

/** Only deployments that ask for a recent sign-in, or choose who may register apps, answer these. */
const WITHOUT_EXAMPLE: readonly ProblemCode[] = ['NOT_A_DEVELOPER'];

const fresh = await recordProblems(await useSharedSandbox());

test('every error code has a recorded example, except those that need a setting', () => {
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

test('recorded examples name no other local address than the samples do', () => {
  const ports = JSON.stringify([answers, problems]).matchAll(/localhost(?::|%3A)(\d+)/g);
  expect(new Set([...ports].map(([, port]) => port))).toEqual(new Set(['8080', '9999']));
});

test('every recorded example of an operation still has the shape that the document states', async () => {
  const contract = await AnswerContract.open();
  expect(Object.keys(answers).length).toBeGreaterThan(50);
  const faults = Object.entries(answers).flatMap(([name, { request, answer }]) => {
    const url = new URL(request.path, 'http://localhost:8080');
    const isText = answer.body === null || typeof answer.body === 'string';
    const text = isText ? (answer.body as string | null) : JSON.stringify(answer.body);
    const received = { ...answer, url, method: request.method, headers: new Headers(answer.headers), text };
    // Header fields that say nothing are not recorded.
    const found = contract.findFaults(received).filter((fault) => !fault.startsWith('the header field'));
    return found.map((fault) => `${name}: ${fault}`);
  });
  expect({ faults, remedy: 'pnpm record:examples' }).toMatchObject({ faults: [] });
});
