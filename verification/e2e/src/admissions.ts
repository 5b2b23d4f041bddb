import { status } from '@grpc/grpc-js';
import type { RawOutcome } from './raw-grpc.ts';

type Table = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

const INGESTION =
  'PutReadings PutHealthRecords DeleteReadings DeleteHealthRecords PutProfile EraseUser StartImport ReportImport ListImports';

/** Who may call what: service, proto service, caller, and the rpcs that admit it. Nobody else may call anything. */
const ADMITTED: Table = {
  authorization: {
    'phds.authorization.v1.AppOperatorService': {
      operator: 'ListAllApps SuspendApp LiftAppLock TransferApp ListDevelopers AddDeveloper RemoveDeveloper',
    },
    'phds.authorization.v1.AppService': {
      gateway: 'RegisterApp ListApps UpdateApp RotateSecret SetAppStatus',
    },
    'phds.authorization.v1.AuthorizationService': {
      gateway:
        'OpenAuthorization AuthenticateClient ResolveRequestUri CompleteAuthorization DenyAuthorization ExtendAuthorization GetIssuer',
      operator: 'EraseUser',
    },
    'phds.authorization.v1.TokenService': {
      gateway:
        'IssueToken IssueTokens RevokeToken Introspect IntrospectTokens IntrospectOwnToken IntrospectOwnTokens ListOwnGrants EndOwnGrant',
      'example-service': 'Introspect IntrospectTokens',
    },
    'phds.common.v1.RestoreService': {
      operator: 'GetRestoreStatus DeclareRestore ConfirmRestore ListSuspended ConfirmPart',
    },
  },
  consent: {
    'phds.consent.v1.AccessService': {
      'health-data': 'RecordAccess',
      'example-service': 'RecordAccess',
      gateway: 'ListAccesses ListAccessDays GetAppUsage CountRefusals',
    },
    'phds.consent.v1.ConsentService': {
      authorization:
        'OpenPendingApproval GetPendingApproval Approve Deny ExtendPendingApproval ListAppGrants RevokeAppGrant',
      gateway:
        'GetPendingApproval ListPendingApprovals ReleasePendingApproval ListGrants NarrowGrant RevokeGrant RevokeAllGrants ListConnectedApps RequestDeletion GetReceipt',
      operator: 'EraseUser',
    },
    'phds.consent.v1.GrantService': {
      'example-service': 'CheckSharing ListGrants GetGrant EndGrant',
      operator: 'ListGrants EndGrant',
    },
    'phds.consent.v1.EventService': { 'health-data': 'ReportDataChanges' },
    'phds.consent.v1.LedgerService': {
      authorization: 'PutApp SetAppStatus SetAppLock SetAppOwner RevokeTokens CheckLivenesses',
    },
    'phds.consent.v1.OperatorActService': {
      authorization: 'BeginAct EndAct',
      'health-data': 'BeginAct EndAct',
      operator: 'ListActs',
      gateway: 'BeginDownload ListOwnActs',
    },
    'phds.consent.v1.PersonOperatorService': {
      operator: 'GetPerson AnnounceRecordsRead EndPersonSessions ListCompletedActs',
    },
    'phds.consent.v1.SandboxService': {
      gateway: 'FindSandboxGrant ChangeSandboxGrant',
    },
    'phds.consent.v1.SessionService': { gateway: 'EndSessions CheckSession' },
    'phds.consent.v1.WebhookOperatorService': {
      operator: 'ListWebhooks SetWebhookPaused RedeliverEvents',
    },
    'phds.consent.v1.WebhookService': {
      gateway:
        'GetWebhook PutWebhook DeleteWebhook RotateWebhookSecret SendTestEvent ListDeliveries RedeliverEvent',
    },
    'phds.common.v1.RestoreService': {
      operator: 'GetRestoreStatus DeclareRestore ConfirmRestore ListSuspended ConfirmPart',
    },
  },
  'health-data': {
    'phds.healthdata.v1.HealthDataService': { gateway: 'Read Reads' },
    'phds.healthdata.v1.PreviewService': { gateway: 'Preview Overview ReadOwn' },
    'phds.healthdata.v1.IngestionService': {
      importer: INGESTION,
      'example-service': INGESTION,
      operator: 'EraseUser',
    },
    'phds.healthdata.v1.SandboxService': {
      gateway: 'PreparePerson ChangeData',
    },
  },
};

/** The callers that each rpc of a service admits, by path. */
export function listAdmitted(service: string): Map<string, string[]> {
  const admitted = new Map<string, string[]>();
  for (const [name, callers] of Object.entries(ADMITTED[service] ?? {})) {
    for (const [caller, rpcs] of Object.entries(callers)) {
      for (const rpc of rpcs.split(' ')) {
        const path = `/${name}/${rpc}`;
        admitted.set(path, [...(admitted.get(path) ?? []), caller]);
      }
    }
  }
  return admitted;
}

/** How a call ended: `admitted`, `refused` with nothing but why the caller is refused, or what else it showed. */
export type Verdict = string;

/** Why a token is refused, or a caller whose token is valid. */
const REFUSAL = /^(service token refused: .+|\S+ may not call \w+; (it needs|only) .+)$/;

export function judgeGrpc({ code, text, fields, details, messages, isOpened }: RawOutcome): Verdict {
  if (code === status.INVALID_ARGUMENT || (code === status.OK && isOpened)) return 'admitted';
  const isBare =
    REFUSAL.test(text) &&
    messages === 0 &&
    fields.every((name) => GRPC_FIELDS.includes(name)) &&
    details.equals(toStatus(text));
  return code === status.PERMISSION_DENIED && isBare
    ? 'refused'
    : `${status[code]} ${text} ${fields} ${details.toString('hex')}`;
}

/** The same over the Connect protocol with JSON. */
export function judgeConnect(httpStatus: number, body: string): Verdict {
  const { code, message, details, ...others } = JSON.parse(body);
  if (httpStatus === 400 && code === 'invalid_argument') return 'admitted';
  const known = { reason: 'REASON_CALLER_NOT_ADMITTED', message };
  const isBare =
    Object.keys(others).length === 0 &&
    REFUSAL.test(message) &&
    details.length === 1 &&
    JSON.stringify(details[0].debug) === JSON.stringify(known);
  return httpStatus === 403 && code === 'permission_denied' && isBare ? 'refused' : `${httpStatus} ${body}`;
}

const GRPC_FIELDS = ['content-type', 'date', 'grpc-status-details-bin'];

/** google.rpc.Status: code 7 and the text, and an ErrorDetail of which only the reason and the text are set. */
function toStatus(text: string): Buffer {
  const detail = Buffer.concat([Buffer.from([0x08, 3]), field(2, Buffer.from(text))]);
  const url = Buffer.from('type.googleapis.com/phds.common.v1.ErrorDetail');
  const any = Buffer.concat([field(1, url), field(2, detail)]);
  return Buffer.concat([
    Buffer.from([0x08, status.PERMISSION_DENIED]),
    field(2, Buffer.from(text)),
    field(3, any),
  ]);
}

/** A field of bytes, of at most 16 KiB. */
function field(number: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const size = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), bytes]);
}
