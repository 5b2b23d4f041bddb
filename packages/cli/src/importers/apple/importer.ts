import { findTimeZone } from '@phds/catalog/time-zones';
import { findInstant } from '../ingest/dates.ts';
import {
  type Importer,
  type ImportRequest,
  type ImportSink,
  type ImportSource,
  type Outcome,
  UnusableFile,
  withoutItems,
} from '../ingest/importer.ts';
import { type ByteSource, readHead } from '../tables/lines.ts';
import { ClinicalRecords } from './clinical-records.ts';
import { type ExportElement, ExportParser } from './export-parser.ts';
import { type ExportSource, openExport, toOrigin, UNREAD_FILES, type UnreadKind } from './export-source.ts';
import { ECG_HEADER_BYTES, mapEcg, mapElement, refused } from './records.ts';
import { SourceLabels } from './source-labels.ts';

/** What the check of an export finds out for the import. */
interface Findings {
  readonly labels: SourceLabels;
  readonly clinical: ClinicalRecords;
  /** IANA zone; null if no sample names one. */
  readonly timeZone: string | null;
}

/**
 * Imports Apple Health's `export.zip` or `export.xml`. The XML is read twice: first to check that it is complete and to learn the
 * devices of its sources, then to map and send it. Nothing of a damaged export is stored.
 */
export const appleImporter: Importer = {
  format: 'apple',
  takesSeveral: false,
  async open({ paths, patient, onChecked }) {
    const [path = ''] = paths;
    if (patient !== null) throw new UnusableFile('An export is about one person: leave --patient out');
    const source = await openExport(path);
    try {
      return new AppleSource(path, source, await check(source, onChecked));
    } catch (error) {
      source[Symbol.dispose]();
      throw error;
    }
  },
};

async function check(
  { xml, clinical: files }: ExportSource,
  onChecked: ImportRequest['onChecked'],
): Promise<Findings> {
  const [parser, labels, newest] = [new ExportParser(), new SourceLabels(), new NewestTimeZone(Date.now())];
  const clinical = new ClinicalRecords(files);
  for await (const chunk of xml.read()) {
    for (const element of parser.write(chunk)) {
      if (element.problem !== '') continue;
      const { sourceName = '', sourceVersion = '', device = '' } = element.attributes;
      labels.learn({ sourceName, sourceVersion, device });
      newest.add(element);
      clinical.notice(element);
    }
    onChecked(parser.position, xml.size);
  }
  parser.end();
  await clinical.learn();
  return { labels, clinical, timeZone: newest.zone };
}

const DAY_MS = 86_400_000;

/** Finds the person's time zone: that of the newest sample with a zone. */
class NewestTimeZone {
  readonly #latest: number;
  #at = Number.NEGATIVE_INFINITY;
  #zone: string | null = null;

  /** Samples dated after `now` (Unix milliseconds) are ignored. */
  constructor(now: number) {
    this.#latest = now + DAY_MS;
  }

  /** An IANA zone; null if no sample has one. */
  get zone(): string | null {
    return this.#zone;
  }

  add({ timeZone, attributes }: ExportElement): void {
    if (timeZone === '') return;
    const at = findInstant(attributes['startDate'] ?? '');
    if (!(at > this.#at && at < this.#latest)) return;
    const zone = findTimeZone(timeZone);
    if (zone === null) return;
    this.#at = at;
    this.#zone = zone;
  }
}

/** Positions are characters of the XML, then one for each recording and clinical record, then one for the unread files. */
class AppleSource implements ImportSource {
  readonly files: readonly string[];
  readonly #source: ExportSource;
  readonly #findings: Findings;

  constructor(path: string, source: ExportSource, findings: Findings) {
    this.files = [path];
    this.#source = source;
    this.#findings = findings;
  }

  get timeZone(): string | null {
    return this.#findings.timeZone;
  }

  get size(): number {
    const { xml, ecgs, clinical } = this.#source;
    return xml.size + ecgs.length + clinical.length + 1;
  }

  async read(sink: ImportSink, from: number, timeZone: string): Promise<void> {
    await this.#readXml(sink, from);
    await this.#readEcgs(sink, from);
    await this.#readClinicalRecords(sink, from, timeZone);
    if (from >= this.size) return;
    for (const [kind, count] of this.#source.unread) leaveOut(sink, kind, count);
    await sink.reached(this.size);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#source[Symbol.dispose]();
  }

  async #readXml(sink: ImportSink, from: number): Promise<void> {
    const [parser, earlier] = [new ExportParser(), withoutItems(sink)];
    for await (const chunk of this.#source.xml.read()) {
      for (const element of parser.write(chunk)) {
        for (const outcome of mapElement(element, this.#findings.labels))
          (element.end > from ? sink : earlier).take(outcome, element.name, `line ${element.line}`);
      }
      if (parser.position > from) await sink.reached(parser.position);
    }
    parser.end();
  }

  async #readEcgs(sink: ImportSink, from: number): Promise<void> {
    const { xml, ecgs } = this.#source;
    for (const [index, ecg] of ecgs.entries()) {
      const position = xml.size + index + 1;
      if (position <= from) continue;
      sink.take(await readEcg(ecg), 'ECG', toOrigin(ecg.name));
      await sink.reached(position);
    }
  }

  /** Records before `from` are read too, because the blood type is known only from all of them. */
  async #readClinicalRecords(sink: ImportSink, from: number, timeZone: string): Promise<void> {
    const { xml, ecgs } = this.#source;
    const earlier = withoutItems(sink);
    const positionOf = (index: number) => xml.size + ecgs.length + index + 1;
    await this.#findings.clinical.readAll(
      (index) => (positionOf(index) > from ? sink : earlier),
      async (index) => {
        if (positionOf(index) > from) await sink.reached(positionOf(index));
      },
      timeZone,
    );
  }
}

async function readEcg(ecg: ByteSource): Promise<Outcome> {
  try {
    return mapEcg((await readHead(ecg, ECG_HEADER_BYTES)).toString('utf8'));
  } catch (error) {
    if (error instanceof UnusableFile) return refused('ECG', 'file of the archive is damaged');
    throw error;
  }
}

function leaveOut(sink: ImportSink, kind: UnreadKind, count: number): void {
  const { type, reason } = UNREAD_FILES[kind];
  for (let file = 0; file < count; file += 1) sink.take({ kind: 'left-out', reason }, type, '');
}
