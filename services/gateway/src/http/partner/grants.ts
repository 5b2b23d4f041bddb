import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { findTimeBound, isDate } from '@phds/catalog/instants';
import { GRANT_STATUSES } from '@phds/catalog/wire-names';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { z } from 'zod';
import { toGrantStatus } from '../consent-names.ts';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readJsonBody } from '../json-body.ts';
import { findChoice, readListQuery, toList } from '../list-query.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { toInstant } from '../timestamps.ts';
import { required, toConnectedAppJson, toGrantJson } from './consent-json.ts';

const text = z.string('must be a text');

export const GRANTS_QUERY = {
  status: z.enum(GRANT_STATUSES).meta({ description: 'Only grants of this status.' }),
} as const;

export const narrowingBody = z.strictObject({
  scopes: z.array(text, 'must be a list of scopes').optional(),
  /** Transformed to Unix milliseconds. */
  expiresAt: text
    .meta({ format: 'date-time' })
    .transform((value, { addIssue }) => {
      const bound = findTimeBound(value);
      if (bound?.date === null) return bound.at.getTime();
      addIssue('must be an RFC 3339 instant');
      return z.NEVER;
    })
    .optional(),
  dataFrom: text.refine(isDate, 'must be a date (2026-03-01)').meta({ format: 'date' }).optional(),
});

/** `GET /partner/consent/grants` */
export async function listGrants(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, GRANTS_QUERY);
  const status = findChoice(query, 'status', GRANT_STATUSES);
  query.check();
  const { grants, total } = await gateway.backends.consent.listGrants(
    { page: query.page, status: status === undefined ? GrantStatus.UNSPECIFIED : toGrantStatus(status) },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, toList(grants.map(toGrantJson), query.page, total));
}

/** `GET /partner/consent/grants/:id` */
export async function getGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { grant } = await gateway.backends.consent.getGrant(
    { id: pathParameter(exchange, 'id') },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: toGrantJson(required(grant)) });
}

/** `PATCH /partner/consent/grants/:id`: can only narrow a grant; takes effect everywhere before the response is sent. */
export async function narrowGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { scopes, expiresAt, dataFrom } = await readJsonBody(exchange.request, narrowingBody, {
    maxBytes: gateway.config.MAX_BODY_BYTES,
  });
  const { grant } = await gateway.backends.consent.narrowGrant(
    {
      id: pathParameter(exchange, 'id'),
      scopes: scopes ?? [],
      setScopes: scopes !== undefined,
      dataFrom: dataFrom ?? '',
      ...(expiresAt === undefined ? {} : { expiresAt: timestampFromMs(expiresAt) }),
    },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: toGrantJson(required(grant)) });
}

/** `DELETE /partner/consent/grants/:id`: takes effect everywhere before the response is sent. */
export async function revokeGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  const { revokedAt } = await gateway.backends.consent.revokeGrant({ id }, onBehalf(exchange));
  sendJson(exchange.response, 200, { data: { id, status: 'revoked', revokedAt: toInstant(revokedAt) } });
}

/** `POST /partner/consent/grants/revoke-all`: takes effect everywhere before the response is sent. */
export async function revokeAllGrants(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { revoked } = await gateway.backends.consent.revokeAllGrants({}, onBehalf(exchange));
  sendJson(exchange.response, 200, { data: { revoked } });
}

/** `GET /partner/consent/apps`: every app that the person has or had a grant for. */
export async function listConnectedApps(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl);
  query.check();
  const { apps, total } = await gateway.backends.consent.listConnectedApps(
    { page: query.page },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, toList(apps.map(toConnectedAppJson), query.page, total));
}

/** `POST /partner/consent/grants/:id/deletion-request`: asks the app to delete what it has read. Any body is ignored. */
export async function requestDeletion(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  const { deletionRequestedAt } = await gateway.backends.consent.requestDeletion(
    { grantId: id },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: { id, deletionRequestedAt: toInstant(deletionRequestedAt) } });
}

/** `GET /partner/consent/grants/:id/receipt`: the consent receipt as a compact JWS. */
export async function getReceipt(gateway: Gateway, exchange: Exchange): Promise<void> {
  const grantId = pathParameter(exchange, 'id');
  const { receipt } = await gateway.backends.consent.getReceipt({ grantId }, onBehalf(exchange));
  sendJson(exchange.response, 200, { data: { grantId, receipt } });
}
