import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { isScope } from '@phds/catalog/scopes';
import { ConsentGrantSchema } from '@phds/contracts/phds/consent/v1/consent_pb';
import { CheckSharingResponseSchema, GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import { CONSENT_ENDERS, CONSENT_READERS, SUPPORTERS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import { findGrantStatus } from './consent-service.ts';
import { getGrant, listGrants } from './grant-lists.ts';
import type { Grants } from './grants.ts';
import type { LivenessChecks } from './liveness.ts';
import { parseKnownId, parseName } from './parameters.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly grants: Pick<Grants, 'endByOperator'>;
  readonly liveness: Pick<LivenessChecks, 'findShared'>;
}

/** phds.consent.v1.GrantService. */
export function createGrantService(parts: Parts) {
  return implement(
    GrantService,
    {
      async checkSharing({ userId, clientId, scope }) {
        if (!isScope(scope)) throw invalidRequest('scope', 'is not a scope');
        const { findShared } = parts.liveness;
        const grant = await findShared(parseUserId(userId), parseName('clientId', clientId), scope);
        return grant === null ? {} : toMessage(CheckSharingResponseSchema, { shared: true, ...grant });
      },
      async listGrants({ userId, page, status }) {
        const { ordinary } = parts.pools;
        const found = findGrantStatus(status);
        const { items, total } = await listGrants(ordinary, parseUserId(userId), found, toPage(page));
        return { grants: items.map((grant) => toMessage(ConsentGrantSchema, grant)), total };
      },
      async getGrant({ grantId }) {
        const grant = await getGrant(parts.pools.ordinary, parseKnownId('grt', grantId));
        return { grant: toMessage(ConsentGrantSchema, grant), userId: grant.userId };
      },
      async endGrant({ grantId }) {
        const revokedAt = await parts.grants.endByOperator(parseKnownId('grt', grantId));
        return { revokedAt: timestampFromDate(revokedAt) };
      },
    },
    {
      checkSharing: CONSENT_READERS,
      listGrants: [...CONSENT_READERS, ...SUPPORTERS],
      getGrant: CONSENT_READERS,
      endGrant: [...CONSENT_ENDERS, ...SUPPORTERS],
    },
  );
}
