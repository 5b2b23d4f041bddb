import type { Entry, ZipFile } from 'yauzl';
import { type ArchiveLimits, checkReadable, isHidden, listFiles } from '../archive/zip-archive.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Kinds of archive files that are never read. */
export type UnreadKind = 'cda' | 'route' | 'other';

/** The readable entries of an archive, and the number of unread ones by kind. */
export interface ArchiveEntries {
  readonly exports: readonly Entry[];
  readonly ecgs: readonly Entry[];
  readonly clinical: readonly Entry[];
  readonly unread: ReadonlyMap<UnreadKind, number>;
}

const MAX_EXPORTS = 20;

/** Lists an archive. Throws the UnusableFile errors of `listFiles` and `checkReadable`. */
export async function listEntries(archive: ZipFile, limits: ArchiveLimits): Promise<ArchiveEntries> {
  const [exports, ecgs, clinical]: [Entry[], Entry[], Entry[]] = [[], [], []];
  const unread = new Map<UnreadKind, number>();
  for await (const entry of listFiles(archive, limits)) {
    const kind = kindOf(entry.fileName);
    if (kind === 'export') exports.push(entry);
    else if (kind === 'ecg') ecgs.push(entry);
    else if (kind === 'clinical') clinical.push(entry);
    else unread.set(kind, (unread.get(kind) ?? 0) + 1);
  }
  if (exports.length > MAX_EXPORTS)
    throw new UnusableFile('The zip archive has too many XML files to be an export');
  checkReadable([...exports, ...ecgs, ...clinical], limits);
  return { exports, ecgs, clinical, unread };
}

/** The phone names the XML in its language (`export.xml`, `exportar.xml`, …), in the only folder or at the top level. */
function kindOf(name: string): UnreadKind | 'export' | 'ecg' | 'clinical' {
  const path = name.toLowerCase();
  if (isHidden(path)) return 'other';
  if (/_cda\.xml$/.test(path)) return 'cda';
  if (/^([^/]+\/)?[^/]+\.xml$/.test(path)) return 'export';
  if (path.endsWith('.csv')) return 'ecg';
  if (path.endsWith('.json')) return 'clinical';
  return path.endsWith('.gpx') ? 'route' : 'other';
}
