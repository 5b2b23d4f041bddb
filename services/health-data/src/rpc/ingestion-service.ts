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
import { parseUserId } from '@phds/service-kit/ids';
import { implement } from '@phds/service-kit/rpc/service';
import { INGESTERS, OPERATORS } from '@phds/service-kit/trust/callers';
import type { PutResult } from '../batches.ts';
import type { HealthRecordKind } from '../domain/health-records.ts';
import type { ImportKey, ImportState, ImportStatus } from '../domain/import-progress.ts';
import type { ReadingDraft, ReadingKeyDraft } from '../domain/reading.ts';
import type { UserEraser } from '../erasure.ts';
import { type ImportParts, listImports, reportImport, startImport } from '../imports.ts';
import {
  deleteReadings,
  putReadings,
  type ReadingIngestion,
  type ReadingWindowDraft,
} from '../ingest-readings.ts';
import { deleteHealthRecords, putHealthRecords, type RecordIngestion } from '../ingest-records.ts';
import { type Profiles, putProfile } from '../profiles.ts';
import { toDate, toHealthRecordDraft } from './ingestion-messages.ts';

export interface IngestionParts extends ReadingIngestion, RecordIngestion {
  readonly profiles: Profiles;
  readonly eraser: UserEraser;
}

/** Stores data from importers and other services. */
export function createIngestionService(parts: IngestionParts & ImportParts) {
  return implement(
    IngestionService,
    {
      putReadings: async ({ userId, readings, import: name }) =>
        toResponse(await putReadings(parts, userId, readings.map(toReadingDraft), toImportKey(userId, name))),
      putHealthRecords: async ({ userId, records, import: name }) =>
        toResponse(
          await putHealthRecords(parts, userId, records.map(toHealthRecordDraft), toImportKey(userId, name)),
        ),
      deleteReadings: async ({ userId, keys, windows }) => ({
        deleted: await deleteReadings(parts, userId, keys.map(toKeyDraft), windows.map(toWindowDraft)),
      }),
      deleteHealthRecords: async ({ userId, keys }) => {
        const drafts = keys.map(({ kind, ...key }) => ({ ...key, kind: KINDS[kind] ?? null }));
        return { deleted: await deleteHealthRecords(parts, userId, drafts) };
      },
      putProfile: async ({ userId, import: name, ...profile }) => {
        await putProfile(parts.profiles, userId, profile, toImportKey(userId, name));
        return {};
      },
      eraseUser: async ({ userId }) => ({ rows: BigInt(await parts.eraser.erase(parseUserId(userId))) }),
      startImport: async ({ size, ...draft }) => {
        const { position, ...progress } = await startImport(parts, { ...draft, size: Number(size) });
        return { ...progress, position: BigInt(position) };
      },
      reportImport: async ({ position, state, ...draft }) => {
        await reportImport(parts, { ...draft, position: Number(position), state: STATES[state] ?? null });
        return {};
      },
      listImports: async ({ userId }) => {
        const { imports, timeZone } = await listImports(parts, userId);
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
