import { References } from '../fhir/references.ts';
import { FirstStatements, ResourceImport } from '../fhir/resources.ts';
import {
  type Importer,
  type ImportRequest,
  type ImportSink,
  type ImportSource,
  Refused,
  takeFrom,
  UnusableFile,
} from '../ingest/importer.ts';
import { toContent, toMedicine } from './rows.ts';
import {
  describeOrigin,
  openTableSources,
  openTables,
  readTables,
  sizeOf,
  type TableFile,
  type TableRow,
  type TableSources,
} from './tables.ts';

const MAX_PATIENTS = 100_000;
const MAX_LISTED = 100;
const PATIENT_ID = /^[A-Za-z0-9._-]{1,40}$/;

/** Imports the tables of SMART's sample patients (docs/importing.md, "SMART sample tables"). */
export const smartImporter: Importer = {
  format: 'smart',
  takesSeveral: false,
  async open({ paths, patient, onChecked }) {
    const sources = await openTableSources(paths[0] ?? '');
    try {
      const tables = await openTables(sources.tables);
      const { patients, references } = await learn(tables, onChecked);
      return toSource(sources, tables, references, choosePatient(patients, patient));
    } catch (error) {
      sources[Symbol.dispose]();
      throw error;
    }
  },
};

/** Reads all tables once to learn the patients and the names of medications. */
async function learn(tables: readonly TableFile[], onChecked: ImportRequest['onChecked']) {
  const [patients, references] = [new Set<string>(), new References()];
  const size = sizeOf(tables);
  for await (const { table, row, cells, end } of readTables(tables)) {
    onChecked(end, size);
    if (row.fields.length === 0) continue;
    const patient = cells('PID');
    if (PATIENT_ID.test(patient) && patients.size < MAX_PATIENTS) patients.add(patient);
    const medicine = table.name === 'meds' ? toMedicine(cells) : null;
    if (medicine !== null) references.add('', medicine);
  }
  return { patients, references };
}

/** Throws UnusableFile if the patient is ambiguous. */
function choosePatient(patients: ReadonlySet<string>, wanted: string | null): string {
  if (wanted !== null) {
    if (!patients.has(wanted)) throw new UnusableFile(`The tables have no patient ${wanted}`);
    return wanted;
  }
  const [only] = patients;
  if (only === undefined) throw new UnusableFile('The tables have no patient');
  if (patients.size === 1) return only;
  const listed = [...patients].slice(0, MAX_LISTED).join(', ');
  throw new UnusableFile(
    `The tables are about ${patients.size} patients: choose one with --patient. There are ${listed}${patients.size > MAX_LISTED ? ', …' : ''}`,
  );
}

function toSource(
  sources: TableSources,
  tables: readonly TableFile[],
  references: References,
  patient: string,
): ImportSource {
  return {
    files: sources.paths,
    size: sizeOf(tables),
    describe: (origin) => describeOrigin(tables, origin),
    async read(sink, from, timeZone) {
      const resources = new ResourceImport({
        references,
        patient: null,
        timeZone,
        statements: new FirstStatements(),
      });
      await takeFrom(from, readTables(tables), sink, (row, to) => takeRow(row, patient, resources, to));
    },
    [Symbol.asyncDispose]: async () => sources[Symbol.dispose](),
  };
}

function takeRow(tableRow: TableRow, patient: string, resources: ResourceImport, sink: ImportSink): void {
  const { table, row, cells, origin } = tableRow;
  const { name } = table;
  if (row.problem !== '') sink.refused(name, row.problem, origin);
  else if (row.fields.length === 0) sink.leftOut(name, 'empty');
  else if (cells('PID') === '') sink.refused(name, 'PID is missing', origin);
  else if (cells('PID') !== patient) sink.leftOut(name, 'about another patient');
  else takeContent(tableRow, resources, sink);
}

function takeContent({ table, cells, origin }: TableRow, resources: ResourceImport, sink: ImportSink): void {
  const content = toContent(table.name, cells);
  if ('leftOut' in content) {
    sink.leftOut(table.name, content.leftOut);
    return;
  }
  for (const resource of content.resources) {
    if (resource instanceof Refused) sink.refused(table.name, resource.message, origin);
    else resources.take({ resource, fullUrl: '', origin }, sink);
  }
}
