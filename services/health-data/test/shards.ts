import type pg from 'pg';

/** Where the rows are that a statement reads and writes, by its generic plan. */
export interface Reach {
  /** Reads and inserts of rows that are not those of the one person in a parameter, as `table: condition`. */
  readonly beyond: readonly string[];
  /**
   * Whether an insert is one of several writes, or is in a WITH query. Citus hands a statement to the server of the person as a whole
   * unless it has one; then it runs the parts one after another, and each sees what the earlier ones wrote.
   */
  readonly isSplit: boolean;
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Operation?: string;
  readonly Schema?: string;
  readonly 'Index Cond'?: string;
  readonly 'TID Cond'?: string;
  readonly Filter?: string;
  readonly Output?: readonly string[];
  readonly Plans?: readonly Node[];
  readonly 'Parent Relationship'?: string;
}

/** The plan names a parameter `$1`; everything else that a column can be compared with has a name. */
const ONE_PERSON = /(?:^|\W)user_id = \(?(\$\d+)\b/;

/** Examines a statement as it stands: with the values of its parameters open. */
export async function findReach(pool: pg.Pool, schema: string, text: string): Promise<Reach> {
  const { rows } = await pool.query(`EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) ${text}`);
  const root: Node = rows[0]['QUERY PLAN'][0].Plan;
  const nodes = listNodes(root).filter((node) => node.Schema === schema);
  // What an update or a deletion changes is found by a scan.
  const steps = nodes.filter((node) => !isWrite(node) || isInsert(node));
  const people = steps.map((node) => (isInsert(node) ? findInserted(outerOf(node)) : findScanned(node)));
  const person = people.find((param) => param !== null);
  return {
    beyond: steps.filter((_, step) => people[step] !== person || person === undefined).map(describe),
    isSplit: nodes.some(isInsert) && nodes.some((node) => isWrite(node) && node !== root),
  };
}

function isWrite(node: Node): boolean {
  return node['Node Type'] === 'ModifyTable';
}

function isInsert(node: Node): boolean {
  return isWrite(node) && node.Operation === 'Insert';
}

/** The node that provides the rows of a write. */
function outerOf(node: Node): Node | undefined {
  return node.Plans?.find((one) => one['Parent Relationship'] === 'Outer');
}

/** The parameter with the person whose rows a scan finds; null if it finds those of others, too. */
function findScanned(node: Node): string | null {
  return (
    [node['Index Cond'], node.Filter].flatMap(
      (condition) => ONE_PERSON.exec(condition ?? '')?.[1] ?? [],
    )[0] ?? null
  );
}

/** Nodes that return rows of the nodes below them with the same first column. */
const TRANSPARENT = ['Subquery Scan', 'Append', 'Sort', 'Unique'];

/** The same for inserted rows. The person is the first column of every table. */
function findInserted(source: Node | undefined): string | null {
  const param = /^\(?(\$\d+)\)?(?:::text)?$/.exec(source?.Output?.[0] ?? '')?.[1];
  if (param !== undefined) return param;
  if (source === undefined || !TRANSPARENT.includes(source['Node Type'])) return null;
  const below = (source.Plans ?? []).filter((node) => node['Parent Relationship'] !== 'InitPlan');
  const [one = null, ...others] = new Set(below.map(findInserted));
  return others.length === 0 ? one : null;
}

function describe({ 'Relation Name': table, 'Node Type': type, Operation, ...node }: Node): string {
  return `${table}: ${node['Index Cond'] ?? node['TID Cond'] ?? node.Filter ?? Operation ?? type}`;
}

function listNodes(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}
