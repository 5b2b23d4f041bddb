import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { categoryOfScope } from '@phds/catalog/endpoints';
import { SUMMARY_SCOPES } from '@phds/catalog/scopes';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { AppError } from '@phds/service-kit/errors';
import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { exchangeOf, userOf } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { toNullable } from './messages.ts';
import { dataOf, textOrNull } from './openapi/fields.ts';
import { type Call, jsonOperation } from './operation.ts';

// What only a sandbox deployment has, besides forced errors.

/** The data of a made-up person exists before anything of theirs is answered. */
export function createPreparation({ backends }: Gateway): RequestHandler {
  // Data that was erased is made again after a minute.
  const prepared = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 });
  return async (request, _response, next) => {
    const userId = userOf(exchangeOf(request));
    if (!prepared.has(userId)) {
      await backends.sandboxData.preparePerson({ userId });
      prepared.set(userId, true);
    }
    next();
  };
}

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
    category: textOrNull.meta({ description: 'Of the reading that is different.' }),
    id: textOrNull.meta({
      description: 'Of that reading, as the app sees it; it no longer exists after `data.delete`.',
    }),
    scope: textOrNull.meta({ description: 'The withdrawn scope.' }),
  })
  .meta({ id: 'SandboxTrigger' });

/** Consent checks that the app is the session's developer's, and that the grant is the app's. */
async function runTrigger({ backends, caller, clientId, body }: Call<z.infer<typeof triggerBody>>) {
  const { sandboxGrants, sandboxData } = backends;
  const { trigger: name, grantId } = body;
  if (isGrantTrigger(name)) {
    const request = { clientId, grantId, change: GRANT_TRIGGERS[name] };
    const { changed, scope } = await sandboxGrants.changeSandboxGrant(request, caller);
    return { changed, category: null, id: null, scope: toNullable(scope) };
  }
  const { userId, scopes } = await sandboxGrants.findSandboxGrant({ clientId, grantId }, caller);
  const categories = [...toCategories(scopes)];
  const request = { userId, clientId, change: DATA_TRIGGERS[name], categories };
  const { category, id } = await sandboxData.changeData(request);
  return { changed: id !== '', category: toNullable(category), id: toNullable(id), scope: null };
}

function isGrantTrigger(name: Trigger): name is keyof typeof GRANT_TRIGGERS {
  return name in GRANT_TRIGGERS;
}

/** The categories of readings that the app may read, by itself or in summaries, so that it sees the change. Throws `conflict` for none. */
function toCategories(scopes: readonly string[]): readonly string[] {
  const opened = scopes.map(categoryOfScope).filter((category) => category !== null);
  if (opened.length > 0) return opened;
  if (SUMMARY_SCOPES.some((scope) => scopes.includes(scope))) return CATEGORY_SLUGS;
  const needed = ['read:health-data:…', ...SUMMARY_SCOPES].join(', ');
  throw new AppError(
    'conflict',
    `The grant has no scope of readings (${needed}), so the app would see no change.`,
  );
}

export const PULL_TRIGGER = jsonOperation({
  method: 'POST',
  path: '/developer/apps/:clientId/sandbox/triggers',
  operationId: 'pullSandboxTrigger',
  summary: 'Let something happen to a made-up person',
  description:
    'Sandbox deployments only. For a live grant of an own app. A reading arrives, is corrected or deleted in the first category that the grant opens; ' +
    'or the grant loses a scope, is revoked or expires.',
  body: { schema: triggerBody },
  answer: { description: 'What happened.', body: dataOf(triggeredJson) },
  errors: ['CONFLICT'],
  handle: async (call) => ({ data: { ...call.body, ...(await runTrigger(call)) } }),
});
