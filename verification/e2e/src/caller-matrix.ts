type Table = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

/** Who may call what: service, proto service, caller, and the rpcs that admit it. Nobody else may call anything. */
const ADMITTED: Table = {
  authorization: {
    'phds.authorization.v1.AppOperatorService': {
      operator: 'ListAllApps GetAnyApp SuspendApp LiftAppLock ListDevelopers AddDeveloper RemoveDeveloper',
    },
    'phds.authorization.v1.AppService': {
      gateway: 'RegisterApp ListApps GetApp UpdateApp RotateSecret SetAppStatus',
    },
    'phds.authorization.v1.AuthorizationService': {
      gateway:
        'OpenAuthorization AuthenticateClient ResolveRequestUri CompleteAuthorization DenyAuthorization ExtendAuthorization CompleteSandboxAuthorization',
      operator: 'EraseUser',
    },
    'phds.authorization.v1.TokenService': {
      gateway:
        'IssueToken IssueTokens RevokeToken Introspect IntrospectTokens IntrospectOwnToken IntrospectOwnTokens ListOwnGrants GetOwnGrant EndOwnGrant',
    },
    'phds.common.v1.RestoreService': { operator: 'GetRestoreStatus DeclareRestore ConfirmRestore' },
  },
  consent: {
    'phds.consent.v1.AccessService': {
      'health-data': 'RecordAccess RecordAccesses',
      gateway: 'ListAccesses ExportAccesses ListAccessDays GetAppUsage CountRefusals',
    },
    'phds.consent.v1.ConsentService': {
      authorization:
        'OpenPendingApproval GetPendingApproval Approve Deny ExtendPendingApproval ListAppGrants GetAppGrant RevokeAppGrant',
      gateway:
        'GetPendingApproval ListPendingApprovals ReleasePendingApproval ListGrants GetGrant NarrowGrant RevokeGrant RevokeAllGrants ListConnectedApps RequestDeletion GetReceipt',
      operator: 'EraseUser',
    },
    'phds.consent.v1.EventService': { 'health-data': 'ReportDataChanges' },
    'phds.consent.v1.LedgerService': {
      authorization:
        'PutApp SetAppStatus SetAppLock RevokeFamily RevokeToken CheckLiveness CheckLivenesses CheckLivenessBatches',
    },
    'phds.consent.v1.NoticeService': { 'host-application': 'ListNotices' },
    'phds.consent.v1.ReportService': { gateway: 'ReportApp', operator: 'ListReports' },
    'phds.consent.v1.SandboxService': {
      authorization: 'ApproveInSandbox DenyInSandbox',
      gateway: 'FindSandboxGrant ChangeSandboxGrant',
    },
    'phds.consent.v1.SessionService': { gateway: 'EndSessions CheckSession' },
    'phds.consent.v1.WebhookService': {
      gateway:
        'GetWebhook PutWebhook DeleteWebhook RotateWebhookSecret SendTestEvent ListDeliveries RedeliverEvent',
    },
    'phds.common.v1.RestoreService': { operator: 'GetRestoreStatus DeclareRestore ConfirmRestore' },
  },
  'health-data': {
    'phds.healthdata.v1.HealthDataService': { gateway: 'Read Reads' },
    'phds.healthdata.v1.PreviewService': { gateway: 'Preview' },
    'phds.healthdata.v1.IngestionService': {
      importer:
        'PutReadings PutHealthRecords DeleteReadings DeleteHealthRecords PutProfile EraseUser StartImport ReportImport ListImports',
      operator: 'EraseUser',
    },
    'phds.healthdata.v1.SandboxService': {
      gateway: 'PrepareSandboxPerson ChangeSandboxData EraseSandboxPeople',
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
