import { toPage } from '@phds/catalog/pagination';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { MAX_REASON_LENGTH } from '@phds/service-kit/rpc/operator-acts';
import { implement } from '@phds/service-kit/rpc/service';
import { AUDITORS } from '@phds/service-kit/trust/callers';
import type { OperatorActs } from '../operator-acts.ts';
import { parseName, parseText } from './parameters.ts';

const RECORDING = ['authorization', 'health-data'];
const LARGEST_LIMIT = 1_000;
const LONGEST_OUTCOME = 64;

/** phds.consent.v1.OperatorActService. */
export function createOperatorActService({ acts, userOf }: { acts: OperatorActs; userOf: UserOf }) {
  return implement(
    OperatorActService,
    {
      async beginAct({ operator, rpc, userId, clientId, grantId, reason, requestId, changes }) {
        const number = await acts.begin({
          operator: parseName('operator', operator),
          rpc: parseName('rpc', rpc, 256),
          userId: parseText('user_id', userId),
          clientId: parseText('client_id', clientId),
          grantId: parseText('grant_id', grantId),
          reason: parseText('reason', reason, MAX_REASON_LENGTH),
          requestId: parseText('request_id', requestId),
          changes,
        });
        return { number };
      },
      async endAct({ number, outcome }) {
        await acts.end(number, parseName('outcome', outcome, LONGEST_OUTCOME));
        return {};
      },
      async listActs({ afterNumber, limit }) {
        if (limit > LARGEST_LIMIT) throw invalidRequest('limit', `must be at most ${LARGEST_LIMIT}`);
        if (afterNumber > Number.MAX_SAFE_INTEGER) return { acts: [] };
        return { acts: await acts.list(Number(afterNumber), limit === 0 ? LARGEST_LIMIT : limit) };
      },
      listOwnActs: async ({ page }, context) => acts.listOfPerson(await userOf(context), toPage(page)),
    },
    { beginAct: RECORDING, endAct: RECORDING, listActs: AUDITORS, listOwnActs: ['gateway'] },
  );
}
