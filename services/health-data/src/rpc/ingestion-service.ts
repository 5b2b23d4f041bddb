import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  HealthRecordKind as HealthRecordKindMessage,
  type ImportName,
  ImportState as ImportStateMessage,
  IngestionService,
  type Reading,
  type ReadingKey,
  type ReadingWindow,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { implement } from '@phds/service-kit/rpc/service';
import { INGESTERS, OPERATORS } from '@phds/service-kit/trust/callers';
import { type ImportPorts, listImports, reportImport, startImport } from '../app/imports.ts';
import { deleteHealthRecords, putHealthRecords } from '../app/ingest-health-records.ts';
import { deleteReadings, putReadings, type ReadingWindowDraft } from '../app/ingest-readings.ts';
import { eraseUser, type IngestionPorts, type PutResult } from '../app/ingestion.ts';
import { putProfile } from '../app/profile.ts';
import type { HealthRecordKind } from '../domain/health-records.ts';
import type { ImportKey, ImportState, ImportStatus } from '../domain/import-progress.ts';
import type { ReadingDraft, ReadingKeyDraft } from '../domain/reading.ts';
import { toDate, toHealthRecordDraft } from './ingestion-messages.ts';

/** Stores data from importers and other services. */
export function createIngestionService(ports: IngestionPorts & ImportPorts) {
  return implement(
    IngestionService,
    {
      putReadings: async ({ userId, readings, import: name }) =>
        toResponse(await putReadings(ports, userId, readings.map(toReadingDraft), toImportKey(userId, name))),
      putHealthRecords: async ({ userId, records, import: name }) =>
        toResponse(
          await putHealthRecords(ports, userId, records.map(toHealthRecordDraft), toImportKey(userId, name)),
        ),
      deleteReadings: async ({ userId, keys, windows }) => ({
        deleted: await deleteReadings(ports, userId, keys.map(toKeyDraft), windows.map(toWindowDraft)),
      }),
      deleteHealthRecords: async ({ userId, keys }) => {
        const drafts = keys.map(({ kind, ...key }) => ({ ...key, kind: KINDS[kind] ?? null }));
        return { deleted: await deleteHealthRecords(ports, userId, drafts) };
      },
      putProfile: async ({ userId, import: name, ...profile }) => {
        await putProfile(ports.profiles, userId, profile, toImportKey(userId, name));
        return {};
      },
      eraseUser: async ({ userId }) => ({ rows: BigInt(await eraseUser(ports, userId)) }),
      startImport: async ({ size, ...draft }) => {
        const { position, ...progress } = await startImport(ports, { ...draft, size: Number(size) });
        return { ...progress, position: BigInt(position) };
      },
      reportImport: async ({ position, state, ...draft }) => {
        await reportImport(ports, { ...draft, position: Number(position), state: STATES[state] ?? null });
        return {};
      },
      listImports: async ({ userId }) => {
        const { imports, timeZone } = await listImports(ports, userId);
        return { imports: imports.map(toImport), timeZone };
      },
    },
    {
      putReadings: INGESTERS,
      putHealthRecords: INGESTERS,
      deleteReadings: INGESTERS,
      deleteHealthRecords: INGESTERS,
      putProfile: INGESTERS,
      // Those who ingest are admitted too, because they can delete all data of a person anyway.
      eraseUser: [...INGESTERS, ...OPERATORS],
      startImport: INGESTERS,
      reportImport: INGESTERS,
      listImports: INGESTERS,
    },
  );
}

const KINDS: Readonly<Record<HealthRecordKindMessage, HealthRecordKind | null>> = {
  [HealthRecordKindMessage.UNSPECIFIED]: null,
  [HealthRecordKindMessage.SYMPTOM]: 'symptom',
  [HealthRecordKindMessage.MEDICATION]: 'medication',
  [HealthRecordKindMessage.ADHERENCE_ENTRY]: 'adherence-entry',
  [HealthRecordKindMessage.CONDITION]: 'condition',
  [HealthRecordKindMessage.ALLERGY]: 'allergy',
  [HealthRecordKindMessage.APPOINTMENT]: 'appointment',
  [HealthRecordKindMessage.MOOD_ENTRY]: 'mood-entry',
  [HealthRecordKindMessage.REPORT]: 'report',
  [HealthRecordKindMessage.EHR_RECORD]: 'ehr-record',
};

const STATES: Readonly<Record<ImportStateMessage, ImportState | null>> = {
  [ImportStateMessage.UNSPECIFIED]: null,
  [ImportStateMessage.RUNNING]: 'running',
  [ImportStateMessage.FINISHED]: 'finished',
  [ImportStateMessage.FAILED]: 'failed',
};

const STATE_MESSAGES: Readonly<Record<ImportState, ImportStateMessage>> = {
  running: ImportStateMessage.RUNNING,
  finished: ImportStateMessage.FINISHED,
  failed: ImportStateMessage.FAILED,
};

function toResponse({ refusals, ...counts }: PutResult) {
  return { result: { ...counts, refusals: [...refusals] } };
}

function toImportKey(userId: string, name: ImportName | undefined): ImportKey | null {
  return name === undefined ? null : { userId, format: name.format, digest: name.digest };
}

function toImport({ size, state, startedAt, reportedAt, ...status }: ImportStatus) {
  const times = { startedAt: timestampFromDate(startedAt), reportedAt: timestampFromDate(reportedAt) };
  return { ...status, ...times, size: BigInt(size), state: STATE_MESSAGES[state] };
}

function toReadingDraft(reading: Reading): ReadingDraft {
  const { type, start, end, value = null, unit, source } = reading;
  return { type, start: toDate(start), end: toDate(end), value, unit, source };
}

function toKeyDraft({ type, start, end, source }: ReadingKey): ReadingKeyDraft {
  return { type, start: toDate(start), end: toDate(end), source };
}

function toWindowDraft({ type, source, from, to }: ReadingWindow): ReadingWindowDraft {
  return { type, source, range: { from: toDate(from), to: toDate(to) } };
}
