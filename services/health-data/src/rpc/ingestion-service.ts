import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { parseUserId } from '@phds/service-kit/ids';
import { implement } from '@phds/service-kit/rpc/service';
import { INGESTERS, OPERATORS } from '@phds/service-kit/trust/callers';
import type { PutResult } from '../batches.ts';
import type { UserEraser } from '../erasure.ts';
import { type ImportParts, listImports, reportImport, startImport } from '../imports.ts';
import { deleteReadings, putReadings, type ReadingIngestion } from '../ingest-readings.ts';
import { deleteHealthRecords, putHealthRecords, type RecordIngestion } from '../ingest-records.ts';
import { type Profiles, putProfile } from '../profiles.ts';

export interface IngestionParts extends ReadingIngestion, RecordIngestion {
  readonly profiles: Profiles;
  readonly eraser: UserEraser;
}

/** Stores data from importers and other services. */
export function createIngestionService(parts: IngestionParts & ImportParts) {
  return implement(
    IngestionService,
    {
      putReadings: async (request) => toResponse(await putReadings(parts, request)),
      putHealthRecords: async (request) => toResponse(await putHealthRecords(parts, request)),
      deleteReadings: async (request) => ({ deleted: await deleteReadings(parts, request) }),
      deleteHealthRecords: async (request) => ({ deleted: await deleteHealthRecords(parts, request) }),
      putProfile: async (request) => {
        await putProfile(parts.profiles, request);
        return {};
      },
      eraseUser: async ({ userId }) => ({ rows: BigInt(await parts.eraser.erase(parseUserId(userId))) }),
      startImport: (request) => startImport(parts, request),
      reportImport: async (request) => {
        await reportImport(parts, request);
        return {};
      },
      listImports: ({ userId }) => listImports(parts, userId),
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

function toResponse({ refusals, ...counts }: PutResult) {
  return { result: { ...counts, refusals: [...refusals] } };
}
