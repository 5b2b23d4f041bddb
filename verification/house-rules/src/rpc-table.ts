import { TokenService } from '../../../packages/contracts/gen/phds/authorization/v1/tokens_pb.js';
import { AppError, type Reason } from '../../../packages/service-kit/src/errors.ts';
import { codeOf } from '../../../packages/service-kit/src/rpc/errors.ts';
import type { RpcGuard, RpcService } from '../../../packages/service-kit/src/rpc/service.ts';
import { listServiceRoles } from '../../../packages/service-kit/src/trust/callers.ts';
import { createTokenService } from '../../../services/authorization/src/rpc/token-service.ts';
import { createAccessService } from '../../../services/consent/src/access/access-service.ts';
import { createGrantService } from '../../../services/consent/src/grant-service.ts';
import { createIngestionService } from '../../../services/health-data/src/rpc/ingestion-service.ts';
import { findText } from './repository.ts';

/** The page with the tables. */
export const RPC_PAGE = 'docs/internal-services.md';

type Factory = (parts: never) => (guard: RpcGuard) => RpcService;

const TOKEN_RPCS = Object.fromEntries(TokenService.methods.map(({ localName }) => [localName, () => ({})]));

/** The rpc services for other services of the deployment. */
const FACTORIES: readonly Factory[] = [
  () => createTokenService(TOKEN_RPCS as never),
  createGrantService,
  createAccessService,
  createIngestionService,
];

interface Row {
  readonly rpc: string;
  readonly roles: readonly string[];
  readonly reasons: readonly string[];
}

/** The page with its tables as the code has them now. */
export function toRpcPage(page: string): string {
  const rows = FACTORIES.flatMap((factory) => listRows(factory({} as never)({} as never)));
  const reasons = [...new Set(rows.flatMap((row) => row.reasons))].toSorted();
  const common = reasons.filter((reason) => rows.every((row) => row.reasons.includes(reason)));
  const rpcs = rows.map(({ rpc, roles, reasons: all }) => {
    const own = all.filter((reason) => !common.includes(reason));
    return `| \`${rpc}\` | ${roles.map((role) => `\`${role}\``).join(', ')} | ${own.join(', ')} |`;
  });
  const heading = `| Rpc | Role | Errors, besides ${common.join(', ')} |`;
  return insert(insert(page, 'rpcs', [heading, '|---|---|---|', ...rpcs]), 'errors', [
    '| Reason | Code | Means |',
    '|---|---|---|',
    ...reasons.map(toReasonRow),
  ]);
}

function listRows({ descriptor, callers }: RpcService): Row[] {
  const proto = findText(`proto/${descriptor.file.name}.proto`) ?? '';
  const [head = '', body = ''] = proto.split(new RegExp(`^service ${descriptor.name} \\{`, 'm'));
  const common = listReasons(/[Cc]ommon errors?:([^.]*)\./.exec(flatten(head))?.[1] ?? '');
  return descriptor.methods.flatMap(({ name, localName, methodKind }) => {
    const roles = listServiceRoles(callers[localName] ?? []);
    if (methodKind !== 'unary' || roles.length === 0) return [];
    const comment = new RegExp(`((?:^ +//.*\\n)*) +rpc ${name}\\(`, 'm').exec(body)?.[1] ?? '';
    const own = listReasons(/Errors:(.*)/.exec(flatten(comment))?.[1] ?? '');
    const reasons = [...new Set([...own, ...common])];
    return [{ rpc: `${descriptor.typeName}/${name}`, roles, reasons }];
  });
}

/** Comments without their marks, on one line. */
function flatten(comment: string): string {
  return comment.replace(/\s*\/\/ ?/g, ' ');
}

function listReasons(text: string): string[] {
  return text.match(/\b[A-Z]+(_[A-Z]+)+\b|\bUNAVAILABLE\b|\bCONFLICT\b/g) ?? [];
}

function toReasonRow(reason: string): string {
  const proto = findText('proto/phds/common/v1/error.proto') ?? '';
  const means = new RegExp(`((?:^ +//.*\\n)+) +REASON_${reason} =`, 'm').exec(proto)?.[1] ?? '';
  const code = codeOf(new AppError(reason.toLowerCase() as Reason));
  return `| ${reason} | ${code} | ${flatten(means).trim()} |`;
}

function insert(page: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [`<!-- ${name}: pnpm gen:settings -->\n`, `<!-- end of ${name} -->`];
  const [before = '', rest = ''] = page.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined) throw new Error(`the page has no place for ${name}`);
  return `${before}${begin}\n${lines.join('\n')}\n\n${end}${after}`;
}
