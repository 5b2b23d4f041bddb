import { categoryOfScope } from '@phds/catalog/endpoints';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { z } from 'zod';
import { dataOf } from '../openapi/fields.ts';
import { type Call, jsonOperation } from '../operation.ts';

const DATA_TRIGGERS = {
  'data.arrive': SandboxDataChange.ARRIVE,
  'data.correct': SandboxDataChange.CORRECT,
  'data.delete': SandboxDataChange.DELETE,
} as const;

const GRANT_TRIGGERS = {
  'grant.narrow': SandboxGrantChange.NARROW,
  'grant.revoke': SandboxGrantChange.REVOKE,
  'grant.expire': SandboxGrantChange.EXPIRE,
} as const;

const TRIGGERS = Object.keys({ ...DATA_TRIGGERS, ...GRANT_TRIGGERS }) as Trigger[];

type Trigger = keyof typeof DATA_TRIGGERS | keyof typeof GRANT_TRIGGERS;

const trigger = z.enum(TRIGGERS, `must be one of ${TRIGGERS.join(', ')}`);

const triggerBody = z.strictObject({ trigger, grantId: z.string('must be the id of a grant') });

const triggeredJson = z
  .object({
    trigger,
    grantId: z.string(),
    changed: z.boolean().meta({ description: 'Whether anything is different now.' }),
  })
  .meta({ id: 'SandboxTrigger' });

/** Consent checks that the app is a sandbox app of the session's developer, and that the grant is the app's. */
async function runTrigger({ backends, caller, clientId, body }: Call<z.infer<typeof triggerBody>>) {
  const { sandboxGrants, sandboxData } = backends;
  const { trigger: name, grantId } = body;
  if (isGrantTrigger(name)) {
    const request = { clientId, grantId, change: GRANT_TRIGGERS[name] };
    return sandboxGrants.changeSandboxGrant(request, caller);
  }
  const { userId, scopes } = await sandboxGrants.findSandboxGrant({ clientId, grantId }, caller);
  const request = { userId, change: DATA_TRIGGERS[name], categories: toCategories(scopes) };
  return sandboxData.changeSandboxData(request);
}

function isGrantTrigger(name: Trigger): name is keyof typeof GRANT_TRIGGERS {
  return name in GRANT_TRIGGERS;
}

/** The categories of readings that the app may read, so that it sees the change. */
function toCategories(scopes: readonly string[]): string[] {
  return scopes.map(categoryOfScope).filter((category) => category !== null);
}

export const PULL_TRIGGER = jsonOperation({
  method: 'POST',
  path: '/developer/apps/:clientId/sandbox/triggers',
  operationId: 'pullSandboxTrigger',
  summary: 'Let something happen to a sandbox person',
  description:
    'For a live grant of an own sandbox app. A reading arrives, is corrected or deleted in the first category that the grant opens; ' +
    'or the grant loses a scope, is revoked or expires.',
  body: { schema: triggerBody },
  answer: { description: 'What happened.', body: dataOf(triggeredJson) },
  errors: ['CONFLICT'],
  handle: async (call) => {
    const { changed } = await runTrigger(call);
    return { data: { ...call.body, changed } };
  },
});
