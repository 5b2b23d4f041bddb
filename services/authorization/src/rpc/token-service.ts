import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import type { ClientCredentials as ClientCredentialsMessage } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import {
  type IntrospectRequest,
  type IntrospectResponseSchema,
  type ListOwnGrantsRequest,
  type OwnGrantSchema,
  TokenService,
  TokenStatus,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import { isOtherService, TOKEN_INTROSPECTORS } from '@phds/service-kit/trust/callers';
import type { ClientCredentials } from '../client-authentication.ts';
import type { OwnGrant, OwnGrantFilter } from '../clients/consent-messages.ts';
import { fromGrantStatusMessage, toGrantStatusMessage } from '../clients/consent-messages.ts';
import type { GrantFacts } from '../domain/token.ts';
import type { TokenEndpoint } from '../grants/token-endpoint.ts';
import type { Introspected, Introspection, LiveToken, OwnIntrospection } from '../introspection.ts';
import type { OwnGrants } from '../own-grants.ts';
import type { TokenRevocation } from '../token-revocation.ts';

export interface TokenUseCases {
  readonly issue: TokenEndpoint;
  readonly revoke: TokenRevocation;
  readonly introspectOwn: OwnIntrospection;
  readonly ownGrants: OwnGrants;
  readonly introspect: Introspection;
}

const GATEWAY = ['gateway'];
const ADMITTED = {
  issueToken: GATEWAY,
  revokeToken: GATEWAY,
  introspectOwnToken: GATEWAY,
  listOwnGrants: GATEWAY,
  getOwnGrant: GATEWAY,
  endOwnGrant: GATEWAY,
  introspect: [...GATEWAY, ...TOKEN_INTROSPECTORS],
};
const CARRIED = {
  issueTokens: 'issueToken',
  introspectOwnTokens: 'introspectOwnToken',
  introspectTokens: 'introspect',
} as const;

const STATUS = {
  expired: TokenStatus.EXPIRED,
  dead: TokenStatus.DEAD,
  unknown: TokenStatus.UNKNOWN,
} as const;

/** Tokens: issue, refresh, revoke, introspect. */
export function createTokenService({ ownGrants, ...useCases }: TokenUseCases) {
  const implementation: UnaryRpcs<typeof TokenService> = {
    async issueToken({ client, ...parameters }) {
      const issued = await useCases.issue(toClientCredentials(client), parameters);
      const { jkt, refreshToken, grantId, sub, patient, ...others } = issued;
      return {
        ...others,
        refreshToken: refreshToken ?? '',
        grantId: grantId ?? '',
        sub: sub ?? '',
        patient: patient ?? '',
        dpopBound: jkt !== null,
      };
    },
    async revokeToken({ client, token }) {
      return useCases.revoke(toClientCredentials(client), token);
    },
    async introspectOwnToken({ client, token }) {
      const { clientId, token: own } = await useCases.introspectOwn(toClientCredentials(client), token);
      if (own === null) return { active: false, clientId };
      return {
        active: true,
        scope: own.scope,
        clientId,
        tokenType: own.tokenType,
        issuedAt: timestampFromDate(own.issuedAt),
        expiresAt: timestampFromDate(own.expiresAt),
        grantId: own.grantId ?? '',
        sub: own.sub ?? '',
        jkt: own.jkt ?? '',
        patient: own.patient ?? '',
      };
    },
    async listOwnGrants({ tokenHash, page, ...filter }) {
      const known = parseTokenHash(tokenHash);
      const { items, total } = await ownGrants.list(known, toOwnGrantFilter(filter), toPage(page));
      return { grants: items.map(toOwnGrantMessage), total };
    },
    async getOwnGrant({ tokenHash, id }) {
      return { grant: toOwnGrantMessage(await ownGrants.get(parseTokenHash(tokenHash), id)) };
    },
    async endOwnGrant({ tokenHash, id }) {
      return { revokedAt: timestampFromDate(await ownGrants.end(parseTokenHash(tokenHash), id)) };
    },
    async introspect(request, { caller }) {
      const hash = findTokenHash(request);
      if (hash === null) return { status: TokenStatus.UNKNOWN };
      const introspected = toIntrospectedMessage(await useCases.introspect(hash));
      // Only gateways read from health-data.
      return isOtherService(caller) ? { ...introspected, assertion: '' } : introspected;
    },
  };

  return implement(TokenService, implementation, ADMITTED, CARRIED);
}

type FilterMessage = Pick<ListOwnGrantsRequest, 'status' | 'sub' | 'before' | 'deletionRequested'>;

function toOwnGrantFilter({ status, sub, before, deletionRequested }: FilterMessage): OwnGrantFilter {
  return {
    status: status === GrantStatus.UNSPECIFIED ? null : fromGrantStatusMessage(status),
    sub: sub || null,
    before: before || null,
    deletionRequested,
  };
}

function toOwnGrantMessage(grant: OwnGrant): MessageInitShape<typeof OwnGrantSchema> {
  const { deletionRequestedAt, endedAt } = grant;
  return {
    id: grant.id,
    scopes: [...grant.scopes],
    status: toGrantStatusMessage(grant.status),
    grantedAt: timestampFromDate(grant.grantedAt),
    expiresAt: timestampFromDate(grant.expiresAt),
    ...(deletionRequestedAt !== null && { deletionRequestedAt: timestampFromDate(deletionRequestedAt) }),
    dataFrom: grant.dataFrom ?? '',
    sub: grant.sub ?? '',
    ...(endedAt !== null && { endedAt: timestampFromDate(endedAt) }),
    endedBy: grant.endedBy ?? '',
  };
}

function toIntrospectedMessage(
  introspected: Introspected,
): MessageInitShape<typeof IntrospectResponseSchema> {
  const { status } = introspected;
  if (status === 'live') return toLiveTokenMessage(introspected);
  if (status !== 'expired') return { status: STATUS[status] };
  return { status: STATUS.expired, jkt: introspected.jkt ?? '' };
}

function toLiveTokenMessage({ token, grant, assertion, ledgerChecked }: LiveToken) {
  return {
    status: TokenStatus.LIVE,
    principal: {
      clientId: token.clientId,
      userId: token.userId ?? '',
      grantId: token.grantId ?? '',
      familyId: token.familyId ?? '',
      scopes: [...token.scopes],
      expiresAt: timestampFromDate(token.expiresAt),
      ...(grant === null ? {} : { grant: toGrantMessage(grant) }),
    },
    assertion: assertion ?? '',
    ledgerChecked,
    jkt: token.jkt ?? '',
  };
}

function toGrantMessage(grant: GrantFacts) {
  return {
    status: toGrantStatusMessage(grant.status),
    scopes: [...grant.scopes],
    expiresAt: timestampFromDate(grant.expiresAt),
    userId: grant.userId,
    dataFrom: grant.dataFrom ?? '',
  };
}

const HASH_BYTES = 32;

export function toClientCredentials(message: ClientCredentialsMessage | undefined): ClientCredentials {
  const { clientId, clientSecret, clientAssertion } = message ?? {};
  return { clientId, clientSecret, clientAssertion };
}

/** The hash that a request has, or that of its token; null for a text that is no access token. */
function findTokenHash({ tokenHash, token }: IntrospectRequest): Uint8Array | null {
  if (token === '') return parseTokenHash(tokenHash);
  if (tokenHash.length > 0) throw invalidRequest('token', 'must be absent with token_hash');
  return isSecret('access_token', token) ? sha256(token) : null;
}

/** A SHA-256. Throws `invalid_request` for a wrong length. */
function parseTokenHash(hash: Uint8Array): Uint8Array {
  if (hash.length !== HASH_BYTES) throw invalidRequest('token_hash', `must have ${HASH_BYTES} bytes`);
  return hash;
}
