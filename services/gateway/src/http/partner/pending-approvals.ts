import { isDate } from '@phds/catalog/instants';
import { findLanguage, LANGUAGES } from '@phds/catalog/languages';
import { GRANT_DAYS_CHOICES, isGrantDays } from '@phds/catalog/lifetimes';
import { PENDING_STATUSES } from '@phds/catalog/wire-names';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppError, toAppError } from '@phds/service-kit/errors';
import { z } from 'zod';
import { toPendingStatus } from '../consent-names.ts';
import { type Exchange, onBehalf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { meaningOf } from '../http-error.ts';
import { readJsonBody } from '../json-body.ts';
import { findChoice, readListQuery, toList } from '../list-query.ts';
import { redirect, sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { requireChange } from '../session.ts';
import { toInstant, toNullable } from '../timestamps.ts';
import { wantsHtml } from '../wants-html.ts';
import type { approvalJson } from './answers.ts';
import { required, toPendingJson } from './consent-json.ts';

const text = z.string('must be a text');

export const approvalTerms = z.strictObject({
  scopes: z.array(text, 'must be a list of scopes').optional(),
  expiresInDays: z
    .number('must be a number')
    .refine(isGrantDays, `must be one of ${GRANT_DAYS_CHOICES.join(', ')}`)
    .meta({ enum: GRANT_DAYS_CHOICES })
    .optional(),
  keepExpiry: z.boolean('must be true or false').optional(),
  dataFrom: text.refine(isDate, 'must be a date (2026-03-01)').meta({ format: 'date' }).nullable().optional(),
  language: text
    .refine((tag) => findLanguage(tag) !== null, `must be a tag of one of ${LANGUAGES.join(', ')}`)
    .optional(),
  revision: text.min(1, 'must not be empty').max(128, 'must have at most 128 characters').nullish(),
});

const approvalBody = approvalTerms.refine(
  ({ keepExpiry, expiresInDays }) => keepExpiry !== true || expiresInDays === undefined,
  { path: ['keepExpiry'], error: 'must not come with expiresInDays' },
);

export const PENDING_QUERY = {
  status: z.enum(PENDING_STATUSES).meta({ description: 'Only requests of this status.' }),
} as const;

/** `GET /partner/consent/pending` */
export async function listPending(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, PENDING_QUERY);
  const status = findChoice(query, 'status', PENDING_STATUSES);
  query.check();
  const { pendingApprovals, total } = await gateway.backends.consent.listPendingApprovals(
    { page: query.page, status: status === undefined ? PendingStatus.UNSPECIFIED : toPendingStatus(status) },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, toList(pendingApprovals.map(toPendingJson), query.page, total));
}

/** `GET /partner/consent/pending/:id`. The first session that reads it claims it, so cross-site requests are refused. */
export async function getPending(gateway: Gateway, exchange: Exchange): Promise<void> {
  requireChange(exchange.session);
  const { pendingApproval } = await gateway.backends.consent.getPendingApproval(
    { id: pathParameter(exchange, 'id') },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: toPendingJson(required(pendingApproval)) });
}

/** `POST /partner/consent/pending/:id/approve` */
export async function approve(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  await decide(exchange, id, async () => {
    const body = await readJsonBody(exchange.request, approvalBody, {
      maxBytes: gateway.config.MAX_BODY_BYTES,
      optional: true,
      fromForm: fromApprovalForm,
    });
    if (body.scopes?.length === 0) throw new AppError('no_scopes_approved');
    const answer = await gateway.backends.authorization.completeAuthorization(
      {
        pendingId: id,
        scopes: body.scopes ?? [],
        allRequested: body.scopes === undefined,
        expiresInDays: body.expiresInDays ?? 0,
        keepExpiry: body.keepExpiry ?? false,
        dataFrom: body.dataFrom ?? '',
        language: body.language ?? '',
        revision: body.revision ?? '',
      },
      onBehalf(exchange),
    );
    const { grantId, scopes, grantExpiresAt, redirectUri } = answer;
    const approval: z.infer<typeof approvalJson> = {
      id,
      status: 'approved',
      grantId,
      scopes,
      grantExpiresAt: toInstant(grantExpiresAt),
      redirectUri,
    };
    return approval;
  });
}

/** `POST /partner/consent/pending/:id/deny`; any body is ignored. The redirect URI is null if the app has removed it since. */
export async function deny(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  await decide(exchange, id, async () => {
    const { redirectUri } = await gateway.backends.authorization.denyAuthorization(
      { pendingId: id },
      onBehalf(exchange),
    );
    return { id, status: 'denied', redirectUri: toNullable(redirectUri) };
  });
}

/** `POST /partner/consent/pending/:id/extend`: more time to decide; any body is ignored. */
export async function extend(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  const { expiresAt } = await gateway.backends.authorization.extendAuthorization(
    { pendingId: id },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: { id, expiresAt: toInstant(expiresAt) } });
}

/** `POST /partner/consent/pending/:id/release`: gives the request back, for another account; any body is ignored. */
export async function release(gateway: Gateway, exchange: Exchange): Promise<void> {
  const id = pathParameter(exchange, 'id');
  await gateway.backends.consent.releasePendingApproval({ id }, onBehalf(exchange));
  sendJson(exchange.response, 200, { data: { id } });
}

/** Answers a decision. A browser that submitted the page's form is redirected to the app, or back to the page with the error. */
async function decide<T extends { redirectUri: string | null }>(
  { request, response }: Exchange,
  id: string,
  decision: () => Promise<T>,
): Promise<void> {
  if (!wantsHtml(request)) return sendJson(response, 200, { data: await decision() });
  const page = `/approve/${encodeURIComponent(id)}`;
  try {
    redirect(response, (await decision()).redirectUri ?? page);
  } catch (caught) {
    const error = toAppError(caught);
    const { status, code } = meaningOf(error);
    if (status !== 400 && status !== 409 && code !== 'STEP_UP_REQUIRED') throw error;
    redirect(response, `${page}?problem=${code.toLowerCase()}`);
  }
}

/** A form sends one field for each ticked scope; without any, the choice is empty. */
function fromApprovalForm(fields: readonly [name: string, value: string][]): Record<string, unknown> {
  const scopes = fields.filter(([name]) => name === 'scopes').map(([, value]) => value);
  const others = fields.filter(([name, value]) => name !== 'scopes' && value !== '');
  const { expiresInDays, keepExpiry, ...rest } = Object.fromEntries(others);
  return {
    ...rest,
    scopes,
    ...(expiresInDays === undefined ? {} : { expiresInDays: Number(expiresInDays) }),
    ...(keepExpiry === undefined ? {} : { keepExpiry: keepExpiry === 'true' || keepExpiry }),
  };
}
