import { appleImporter } from './apple/importer.ts';
import { csvImporter } from './csv/importer.ts';
import { fhirImporter } from './fhir/importer.ts';
import type { Importer } from './ingest/importer.ts';

/** Every format that can be imported. */
export const IMPORTERS: readonly Importer[] = [appleImporter, fhirImporter, csvImporter];
