import { TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { isOtherService, TOKEN_INTROSPECTORS } from '@phds/service-kit/trust/callers';

const GATEWAY = ['gateway'];
const ADMITTED = {
  issueToken: GATEWAY,
  revokeToken: GATEWAY,
  introspectOwnToken: GATEWAY,
  listOwnGrants: GATEWAY,
  endOwnGrant: GATEWAY,
  introspect: [...GATEWAY, ...TOKEN_INTROSPECTORS],
};
const CARRIED = {
  issueTokens: 'issueToken',
  introspectOwnTokens: 'introspectOwnToken',
  introspectTokens: 'introspect',
} as const;

/** Tokens: issue, refresh, revoke, introspect. */
export function createTokenService(rpcs: UnaryRpcs<typeof TokenService>) {
  const implementation: UnaryRpcs<typeof TokenService> = {
    ...rpcs,
    async introspect(request, context) {
      const introspected = await rpcs.introspect(request, context);
      // Only gateways read from health-data.
      return isOtherService(context.caller) ? { ...introspected, assertion: '' } : introspected;
    },
  };
  return implement(TokenService, implementation, ADMITTED, CARRIED);
}
