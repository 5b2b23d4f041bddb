import { categoryOfScope } from '@phds/catalog/endpoints';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { z } from 'zod';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readJsonBody } from '../json-body.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';

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

export const triggerBody = z.strictObject({ trigger, grantId: z.string('must be the id of a grant') });

export const triggeredJson = z
  .object({
    trigger,
    grantId: z.string(),
    changed: z.boolean().meta({ description: 'Whether anything is different now.' }),
  })
  .meta({ id: 'SandboxTrigger' });

/** `POST /developer/apps/:clientId/sandbox/triggers`: lets something happen to a sandbox person's grant or data. */
export async function pullTrigger(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { MAX_BODY_BYTES: maxBytes } = gateway.config;
  const body = await readJsonBody(exchange.request, triggerBody, { maxBytes });
  const clientId = pathParameter(exchange, 'clientId');
  const changed = await runTrigger(gateway, exchange, clientId, body);
  const data: z.infer<typeof triggeredJson> = { ...body, changed };
  sendJson(exchange.response, 200, { data });
}

/** Consent checks that the app is a sandbox app of the session's developer, and that the grant is the app's. */
async function runTrigger(
  { backends: { sandboxGrants, sandboxData } }: Gateway,
  exchange: Exchange,
  clientId: string,
  { trigger: name, grantId }: z.infer<typeof triggerBody>,
): Promise<boolean> {
  if (isGrantTrigger(name)) {
    const request = { clientId, grantId, change: GRANT_TRIGGERS[name] };
    return (await sandboxGrants.changeSandboxGrant(request, onBehalf(exchange))).changed;
  }
  const { userId, scopes } = await sandboxGrants.findSandboxGrant({ clientId, grantId }, onBehalf(exchange));
  const request = { userId, change: DATA_TRIGGERS[name], categories: toCategories(scopes) };
  return (await sandboxData.changeSandboxData(request)).changed;
}

function isGrantTrigger(name: Trigger): name is keyof typeof GRANT_TRIGGERS {
  return name in GRANT_TRIGGERS;
}

/** The categories of readings that the app may read, so that it sees the change. */
function toCategories(scopes: readonly string[]): string[] {
  return scopes.map(categoryOfScope).filter((category) => category !== null);
}
