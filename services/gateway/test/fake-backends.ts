import type { DescService } from '@bufbuild/protobuf';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import {
  AuthorizationService,
  type ClientCredentials,
} from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { type IntrospectRequest, TokenService } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { SandboxService } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SessionService } from '@phds/contracts/phds/consent/v1/sessions_pb';
import { WebhookService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { HealthDataService, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { SandboxService as SandboxDataService } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { toAppError } from '@phds/service-kit/errors';
import { ASSERTION_METADATA, type RpcContext, SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc/server';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { createServiceTokenVerifier } from '@phds/service-kit/trust/callers';
import { createServiceKeys } from '@phds/test-kit/service-keys';

const SERVICES = {
  authorization: [AppService, AuthorizationService, TokenService],
  consent: [
    AccessService,
    ConsentService,
    OperatorActService,
    SandboxService,
    SessionService,
    WebhookService,
  ],
  'health-data': [HealthDataService, PreviewService, SandboxDataService],
} as const;

type Implementations = UnaryRpcs<typeof AppService> &
  UnaryRpcs<typeof AuthorizationService> &
  UnaryRpcs<typeof TokenService> &
  UnaryRpcs<typeof AccessService> &
  UnaryRpcs<typeof ConsentService> &
  UnaryRpcs<typeof OperatorActService> &
  UnaryRpcs<typeof SandboxService> &
  UnaryRpcs<typeof SandboxDataService> &
  UnaryRpcs<typeof SessionService> &
  UnaryRpcs<typeof WebhookService> &
  UnaryRpcs<typeof HealthDataService> &
  UnaryRpcs<typeof PreviewService>;

/** The answers of the services; an rpc without one answers an empty message. */
export type Answers = Partial<Implementations>;

/** One received call. */
interface Call {
  readonly rpc: string;
  readonly request: Record<string, unknown>;
  readonly session: string | null;
  readonly assertion: string | null;
}

/** Fake versions of the three services behind a gateway. They answer as the test says, over real gRPC. */
interface FakeBackends extends AsyncDisposable {
  readonly calls: Call[];
  /** Replaces all answers set before. */
  answer(answers: Answers): void;
  callsOf(rpc: keyof Implementations): Call[];
  /** What authorization says of itself; a gateway asks for it at any moment, so these calls are not in `calls`. */
  issuer: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Whether the gateway asks for a token that cannot exist, to know whether authorization answers. It does so at any moment. */
function isProbe(rpc: string, request: unknown): boolean {
  if (rpc !== 'introspect') return false;
  return (request as IntrospectRequest).tokenHash.every((byte) => byte === 0);
}

type Answer = (...args: unknown[]) => unknown;

interface ClientRequest {
  readonly client?: ClientCredentials;
  readonly requireAuthentication?: boolean;
}

/** Whether authorization authenticates the app before it answers. */
function isOfClient(rpc: string, { client, requireAuthentication = false }: ClientRequest): boolean {
  if (rpc === 'openAuthorization') return requireAuthentication || client?.clientSecret !== undefined;
  return ['issueToken', 'revokeToken', 'introspectOwnToken'].includes(rpc);
}

/** Authenticates the app as `authenticateClient` does, and names it in the answer or the refusal. */
async function answerClient({ authenticateClient }: Answers, request: ClientRequest, answer: () => unknown) {
  const judged = await (authenticateClient as Answer | undefined)?.(request);
  const { clientId = 'app_1' } = (judged ?? request.client ?? {}) as { readonly clientId?: string };
  try {
    return { clientId, ...((await answer()) as object) };
  } catch (thrown) {
    const error = toAppError(thrown);
    throw error.reason === 'unauthorized' ? error : error.inNameOf(clientId);
  }
}

export async function startFakeBackends(): Promise<FakeBackends> {
  const keys = createServiceKeys(['gateway']);
  const calls: Call[] = [];
  let answers: Answers = {};
  const handle = (rpc: string) => (request: unknown, context: RpcContext) => {
    if (rpc === 'getIssuer') return { issuer: backends.issuer };
    if (!isProbe(rpc, request)) {
      calls.push({
        rpc,
        request: request as Record<string, unknown>,
        session: context.findMetadata(SESSION_METADATA),
        assertion: context.findMetadata(ASSERTION_METADATA),
      });
    }
    const answer = (answers as Record<string, Answer | undefined>)[rpc] ?? (() => ({}));
    return isOfClient(rpc, request as ClientRequest)
      ? answerClient(answers, request as ClientRequest, () => answer(request, context))
      : answer(request, context);
  };
  const start = (name: keyof typeof SERVICES) =>
    startRpcServer({
      services: SERVICES[name].map((descriptor) => implementAll(descriptor, handle)),
      verifyCaller: createServiceTokenVerifier({ service: name, publicKeys: keys.jwks }),
      log: createLogger({ service: name, level: 'silent' }),
      host: '127.0.0.1',
      rpcPort: 0,
      probePort: null,
      health: async () => true,
    });
  const [authorization, consent, healthData] = await Promise.all([
    start('authorization'),
    start('consent'),
    start('health-data'),
  ]);
  const at = (server: RpcServer) => `127.0.0.1:${server.rpcPort}`;
  const backends: FakeBackends = {
    issuer: '',
    calls,
    answer: (next) => {
      answers = next;
    },
    callsOf: (rpc) => calls.filter((call) => call.rpc === rpc),
    settings: {
      SERVICE_PRIVATE_KEY: keys.pem('gateway'),
      SERVICE_PUBLIC_KEYS: keys.jwks,
      AUTHORIZATION_ADDRESS: at(authorization),
      CONSENT_ADDRESS: at(consent),
      HEALTH_DATA_ADDRESS: at(healthData),
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([authorization, consent, healthData].map((server) => server[Symbol.asyncDispose]()));
    },
  };
  return backends;
}

type Handle = (rpc: string) => (request: unknown, context: RpcContext) => unknown;

const CARRIED = new Map<DescService, object>([
  [HealthDataService, { reads: 'read' }],
  [
    TokenService,
    { issueTokens: 'issueToken', introspectOwnTokens: 'introspectOwnToken', introspectTokens: 'introspect' },
  ],
]);

/** Without the types of one service. */
const implementAny = implement as (...parts: readonly object[]) => ReturnType<typeof implement>;

function implementAll(descriptor: DescService, handle: Handle) {
  const carried = CARRIED.get(descriptor) ?? {};
  const names = descriptor.methods.map(({ localName }) => localName).filter((name) => !(name in carried));
  const implementation = Object.fromEntries(names.map((name) => [name, handle(name)]));
  const admitted = Object.fromEntries(names.map((name) => [name, ['gateway']]));
  return implementAny(descriptor, implementation, admitted, carried);
}
