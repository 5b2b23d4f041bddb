import { OPERATOR_ACTS, type OperatorActName } from '@phds/catalog/wire-names';
import type { OwnAct } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { z } from 'zod';
import { toJson } from '../messages.ts';
import { instant, listOf, PAGE_QUERY, text, textOrNull } from '../openapi/fields.ts';
import { jsonOperation, type MountedOperation } from '../operation.ts';
import { toList } from '../query.ts';

const operatorActJson = z
  .object({
    id: text.meta({ description: 'Number of the act in the operators’ record.' }),
    at: instant,
    act: z.enum(OPERATOR_ACTS),
    clientId: textOrNull.meta({ description: 'App of the grant that the act is about.' }),
    appName: textOrNull,
  })
  .meta({
    id: 'OperatorAct',
    description: 'What an operator of the service did about the person, or the person’s download.',
  });

const ACTS: Readonly<Record<string, OperatorActName>> = {
  'phds.consent.v1.PersonOperatorService/GetPerson': 'person_viewed',
  'phds.consent.v1.GrantService/ListGrants': 'grants_viewed',
  'phds.consent.v1.PersonOperatorService/AnnounceRecordsRead': 'accesses_viewed',
  'phds.consent.v1.GrantService/EndGrant': 'grant_ended',
  'phds.consent.v1.PersonOperatorService/EndPersonSessions': 'sessions_ended',
  'phds.authorization.v1.AppOperatorService/AddDeveloper': 'developer_added',
  'phds.authorization.v1.AppOperatorService/RemoveDeveloper': 'developer_removed',
  'phds.authorization.v1.AppOperatorService/TransferApp': 'app_transferred',
  'phds.consent.v1.OperatorActService/BeginDownload': 'own_data_downloaded',
};

/** What operators did about the person of the session. */
export const OPERATOR_ACT_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path: '/partner/consent/operator-acts',
    operationId: 'listOperatorActs',
    summary: 'List what operators did about the person',
    description:
      'Acts on the person, their grants or their data, and the person’s own downloads of all of it, newest first. Each is recorded before it begins.',
    query: PAGE_QUERY,
    answer: { description: 'The acts, newest first.', body: listOf(operatorActJson) },
    handle: async ({ backends, caller, query }) => {
      query.check();
      const { acts, total } = await backends.operatorActs.listOwnActs({ page: query.page }, caller);
      return toList(acts.map(toActJson), query.page, total);
    },
  }),
];

/** An act as the person sees it. */
export function toActJson(act: OwnAct): z.infer<typeof operatorActJson> {
  return toJson(operatorActJson, { ...act, id: String(act.number), act: ACTS[act.rpc] ?? 'other' });
}
