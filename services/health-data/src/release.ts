import { create } from '@bufbuild/protobuf';
import type { EndpointId } from '@phds/catalog/endpoints';
import { isAmongNewest } from '@phds/catalog/pagination';
import { type Access as AccessMessage, Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { QueryParametersSchema, type ReadRequest } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { findEndpointId } from '@phds/service-kit/rpc/messages';
import type { AccessAssertion } from '@phds/service-kit/trust/access-assertion';
import { type Answer, type Document, toDocument } from './document.ts';
import type { PublicIds, ReaderIds } from './public-ids.ts';
import { resolveParameters } from './request.ts';
import { type DataParts, getDataPath, readResource } from './resources.ts';

/** A response about to be released: no values, no tokens. `dataFrom` is the data window used for it. */
export type Access = Omit<AccessMessage, '$typeName' | '$unknown'>;

/**
 * Resolves with the verdict once the record is durable. Rejects with `access_not_recorded` if that is uncertain; then nothing may be
 * released.
 */
export type RecordAccess = (access: Access) => Promise<Verdict>;

export interface ReleaseParts {
  readonly data: DataParts;
  readonly record: RecordAccess;
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
  readonly prepare: (caller: AccessAssertion, ids: ReaderIds) => PreparedRead;
}

interface PreparedRead {
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
  { data, record, publicIds, turns }: ReleaseParts,
  caller: AccessAssertion,
  { scopes, endpoint, requestId, prepare }: AskedData,
): Promise<Document> {
  checkAdmission(caller, scopes);
  const { clientId, userId, dataFrom } = caller;
  const ids = publicIds(clientId);
  const { from, to, page, takesTurn, read } = prepare(caller, ids);
  const answer = await (takesTurn ? turns(clientId, () => read(data)) : read(data));
  const isError = answer instanceof AppError;
  const scope = (isError ? undefined : answer.scope) ?? scopes.join(' ');
  const verdict = await record({
    clientId,
    userId,
    grantId: caller.grantId,
    familyId: caller.familyId,
    tokenHash: Buffer.from(caller.tokenHash, 'base64url'),
    tokenExpiresAt: caller.tokenExpiresAt,
    scope,
    endpoint,
    from,
    to,
    page,
    recordCount: isError ? 0 : answer.recordCount,
    requestId,
    dataFrom: dataFrom ?? '',
  });
  if (verdict !== Verdict.RELEASED) throw toRefusal(verdict, scope);
  if (isError) throw answer;
  return toDocument(answer, ids);
}

/** A request of the data API. Throws INVALID_REQUEST for an unknown endpoint, NOT_FOUND for an unknown category. */
export function askForResource(request: ReadRequest): AskedData {
  const { medicationId, parameters: sent = create(QueryParametersSchema), requestId } = request;
  const endpoint = findEndpointId(request.endpoint);
  if (endpoint === null) throw invalidRequest('endpoint', 'is not known');
  const path = getDataPath(endpoint, request.category);
  return {
    scopes: [path.scope],
    endpoint: path.path,
    requestId,
    prepare: ({ clientId, userId, dataFrom }, ids) => {
      const parameters = resolveParameters(sent, path);
      const { page, window, updatedSince } = parameters;
      const isWhole = window.from === null && window.to === null && updatedSince === null;
      const isNewestPage = isWhole && isAmongNewest(parameters);
      const takesTurn = endpoint === 'health-data' ? !isNewestPage : !SUMMARIES.has(endpoint);
      const asked = { path, medicationId, parameters, askedBy: clientId, ids, userId, dataFrom };
      return {
        from: sent.from,
        to: sent.to,
        page,
        takesTurn,
        read: (data) => readResource(data, asked),
      };
    },
  };
}

const SUMMARIES: ReadonlySet<EndpointId> = new Set(['aggregations', 'trends']);

/** Refuses calls that no judgement could release, before any row is read. Expiry is judged by the ledger's clock. */
function checkAdmission(caller: AccessAssertion, scopes: readonly string[]): void {
  const lacking = scopes.find((scope) => !caller.scopes.includes(scope));
  if (lacking !== undefined) {
    throw new AppError('insufficient_scope', `The token lacks the scope ${lacking}.`, {
      requiredScope: lacking,
    });
  }
  if (caller.userId === '') throw consentRequired(scopes.join(' '));
}

function toRefusal(verdict: Verdict, scope: string): AppError {
  switch (verdict) {
    case Verdict.TOKEN_EXPIRED:
      return new AppError('token_expired');
    case Verdict.GRANT_EXPIRED:
    case Verdict.SCOPE_WITHDRAWN:
      return consentRequired(scope);
    case Verdict.WINDOW_CHANGED:
      return new AppError('assertion_stale');
    case Verdict.TOKEN_REVOKED:
    case Verdict.FAMILY_REVOKED:
    case Verdict.GRANT_REVOKED:
    case Verdict.APP_NOT_ALIVE:
    case Verdict.RESTORE_UNCONFIRMED:
      return unauthorized(Verdict[verdict].toLowerCase());
    default:
      return notRecorded(new Error('unknown verdict'));
  }
}

export function notRecorded(cause: unknown): AppError {
  const options = { cause, retryAfterSeconds: 1 };
  return new AppError('access_not_recorded', 'The access could not be recorded.', options);
}

function consentRequired(scope: string): AppError {
  return new AppError('consent_required', 'No active consent covers this request.', { requiredScope: scope });
}
