import type { EndpointId } from '@phds/catalog/endpoints';
import { isAmongNewest, toPage } from '@phds/catalog/pagination';
import type { Turns } from '@phds/service-kit/batcher';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import type { Caller } from './caller.ts';
import { type Answer, type Document, toDocument } from './document.ts';
import type { PublicIds, ReaderIds } from './public-ids.ts';
import { resolveParameters, type SentRequest } from './request.ts';
import { type DataParts, readResource } from './resources.ts';

/** The result of a recorded access, judged after the record was durable. */
export type Verdict =
  | 'released'
  | 'token_expired'
  | 'token_revoked'
  | 'family_revoked'
  | 'grant_revoked'
  | 'grant_expired'
  | 'scope_withdrawn'
  | 'app_not_alive'
  | 'window_changed'
  | 'restore_unconfirmed';

/** A response about to be released: no values, no tokens. `dataFrom` is the data window used for it. */
export interface Access extends Omit<Caller, 'scopes' | 'sub'> {
  readonly scope: string;
  /** Path of the public interface, such as `/api/v1/health-data/heart`. */
  readonly endpoint: string;
  /** As requested; empty for no bound. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly recordCount: number;
  readonly requestId: string;
}

export interface AccessRecorder {
  /**
   * Resolves with the verdict once the record is durable. Rejects with `access_not_recorded` if that is uncertain; then nothing may
   * be released.
   */
  record(access: Access): Promise<Verdict>;
}

export interface ReleaseParts {
  readonly data: DataParts;
  readonly recorder: AccessRecorder;
  readonly publicIds: PublicIds;
  /** The turns of apps for reads that share no statement with others. */
  readonly turns: Turns;
}

/** A request of an app, of either interface. */
export interface AskedData {
  /** The scopes by which it is judged, in catalog order; at least one. All are required. */
  readonly scopes: readonly string[];
  /** Path of the public interface, for the access record. */
  readonly endpoint: string;
  readonly requestId: string;
  /** Throws INVALID_REQUEST for invalid parameters. */
  readonly prepare: (caller: Caller, ids: ReaderIds) => PreparedRead;
}

export interface PreparedRead {
  /** For the access record: the bounds as requested, empty for none. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  /** Whether it waits for a turn of its app: newest pages share statements, and summaries take turns by statement. */
  readonly takesTurn: boolean;
  /** Returns errors that depend on the rows. */
  readonly read: (data: DataParts) => Promise<Answer | AppError>;
}

/**
 * The only path by which a user's data is released to an app: check the token's scopes and the parameters, read
 * the rows, record the access durably, and release the response only if consent then judges the access alive.
 */
export async function releaseData(
  { data, recorder, publicIds, turns }: ReleaseParts,
  caller: Caller,
  { scopes, endpoint, requestId, prepare }: AskedData,
): Promise<Document> {
  checkAdmission(caller, scopes);
  const { clientId, userId, dataFrom } = caller;
  const ids = publicIds(clientId);
  const { from, to, page, takesTurn, read } = prepare(caller, ids);
  const answer = await (takesTurn ? turns(clientId, () => read(data)) : read(data));
  const isError = answer instanceof AppError;
  const scope = (isError ? undefined : answer.scope) ?? scopes.join(' ');
  const verdict = await recorder.record({
    clientId,
    userId,
    grantId: caller.grantId,
    familyId: caller.familyId,
    tokenHash: caller.tokenHash,
    tokenExpiresAt: caller.tokenExpiresAt,
    scope,
    endpoint,
    from,
    to,
    page,
    recordCount: isError ? 0 : answer.recordCount,
    requestId,
    dataFrom,
  });
  if (verdict !== 'released') throw toRefusal(verdict, scope);
  if (isError) throw answer;
  return toDocument(answer, ids);
}

/** A request of the data API. */
export function askForResource(request: SentRequest): AskedData {
  const { path, medicationId, parameters: sent, requestId } = request;
  return {
    scopes: [path.scope],
    endpoint: path.path,
    requestId,
    prepare: ({ clientId, userId, dataFrom }, ids) => {
      const parameters = resolveParameters(sent, path);
      const asked = { path, medicationId, parameters, askedBy: clientId, ids, userId, dataFrom };
      return {
        from: sent.from,
        to: sent.to,
        page: parameters.page,
        takesTurn: !isOfNewestPage(request) && !SUMMARIES.has(path.endpoint),
        read: (data) => readResource(data, asked),
      };
    },
  };
}

const SUMMARIES: ReadonlySet<EndpointId> = new Set(['aggregations', 'trends']);

function isOfNewestPage({ path, parameters }: SentRequest): boolean {
  const { from, to, updatedSince } = parameters;
  return (
    path.endpoint === 'health-data' && isAmongNewest(toPage(parameters)) && from + to + updatedSince === ''
  );
}

/** Refuses calls that no judgement could release, before any row is read. Expiry is judged by the ledger's clock. */
function checkAdmission(caller: Caller, scopes: readonly string[]): void {
  const lacking = scopes.find((scope) => !caller.scopes.includes(scope));
  if (lacking !== undefined) {
    throw new AppError('insufficient_scope', `The token lacks the scope ${lacking}.`, {
      requiredScope: lacking,
    });
  }
  if (caller.userId === '') throw consentRequired(scopes.join(' '));
}

function toRefusal(verdict: Exclude<Verdict, 'released'>, scope: string): AppError {
  switch (verdict) {
    case 'token_expired':
      return new AppError('token_expired');
    case 'grant_expired':
    case 'scope_withdrawn':
      return consentRequired(scope);
    case 'window_changed':
      return new AppError('assertion_stale');
    case 'token_revoked':
    case 'family_revoked':
    case 'grant_revoked':
    case 'app_not_alive':
    case 'restore_unconfirmed':
      return unauthorized(verdict);
  }
}

function consentRequired(scope: string): AppError {
  return new AppError('consent_required', 'No active consent covers this request.', { requiredScope: scope });
}
