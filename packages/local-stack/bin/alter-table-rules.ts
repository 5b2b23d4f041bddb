import {
  type Before,
  contract,
  type Finding,
  locks,
  MAY_BE_TARGET,
  type Node,
  nameOf,
} from './migration-findings.ts';

export function findInNewTable({ relation, partbound, inhRelations = [] }: Node, before: Before): Finding[] {
  if (partbound === undefined) return [];
  const parent = nameOf(inhRelations[0].RangeVar);
  return before.createdTables.has(parent) ? [] : [attaches(nameOf(relation), parent)];
}

const attaches = (partition: string, table: string): Finding =>
  locks(`locks and may read ${partition} and the default partition of ${table} to attach the partition`);

export function findInAlterTable({ relation, cmds }: Node, { createdTables }: Before): Finding[] {
  const table = nameOf(relation);
  return cmds.flatMap(({ AlterTableCmd: command }: Node) => {
    const isAttached = command.subtype === 'AT_AttachPartition';
    const partition = isAttached ? nameOf(command.def.PartitionCmd.name) : table;
    if (createdTables.has(table) && createdTables.has(partition)) return [];
    return isAttached ? [attaches(partition, table)] : findInCommand(command, table);
  });
}

/** Changes of a table that take nothing from the earlier release, and hold no lock for long. */
const HARMLESS: ReadonlySet<string> = new Set([
  'AT_ValidateConstraint',
  'AT_SetStatistics',
  'AT_SetOptions',
  'AT_ResetOptions',
  'AT_SetStorage',
  'AT_SetCompression',
]);

function findInCommand({ subtype, name, def }: Node, table: string): Finding[] {
  switch (subtype) {
    case 'AT_DropColumn':
      return [contract(`drops the column ${table}.${name}`)];
    case 'AT_AlterColumnType':
      return [contract(`changes the type of ${table}.${name}`)];
    case 'AT_DropConstraint':
      return [contract(`drops the constraint ${name} of ${table}: ${MAY_BE_TARGET}`)];
    case 'AT_EnableRowSecurity':
    case 'AT_ForceRowSecurity':
      return [contract(`hides the rows of ${table} that no policy shows`)];
    case 'AT_SetNotNull':
      return [contract(`makes ${table}.${name} NOT NULL`)];
    case 'AT_ColumnDefault':
      return def === undefined ? [contract(`drops the default of ${table}.${name}`)] : [];
    case 'AT_AddColumn':
      return findInNewColumn(def.ColumnDef, table);
    case 'AT_AddConstraint':
      return findInConstraint(def.Constraint, table);
    case 'AT_SetLogged':
    case 'AT_SetUnLogged':
    case 'AT_SetTableSpace':
      return [locks(`rewrites ${table}`)];
    default:
      return HARMLESS.has(subtype)
        ? []
        : [contract(`changes ${table} in a way that this check does not know (${subtype})`)];
  }
}

function findInNewColumn({ colname, constraints = [] }: Node, table: string): Finding[] {
  const kinds: string[] = constraints.map(({ Constraint: { contype } }: Node) => contype);
  const column = `${table}.${colname}`;
  const findings: Finding[] = [];
  if (kinds.includes('CONSTR_NOTNULL') && !kinds.some((kind) => /DEFAULT|IDENTITY|GENERATED/.test(kind)))
    findings.push(
      contract(`adds ${column}, which is NOT NULL without a default: the earlier release inserts none`),
    );
  if (kinds.some((kind) => /UNIQUE|PRIMARY/.test(kind)))
    findings.push(locks(`builds the index of ${column} while ${table} is locked`));
  if (kinds.some((kind) => /CHECK|FOREIGN|IDENTITY|GENERATED/.test(kind)))
    findings.push(locks(`reads or writes all rows of ${table} for ${column}`));
  const defaults = constraints.map(
    ({ Constraint }: Node) => Constraint.contype === 'CONSTR_DEFAULT' && Constraint.raw_expr,
  );
  if (defaults.some((value: Node) => value && /"FuncCall"/.test(JSON.stringify(value))))
    findings.push(locks(`may write all rows of ${table}, because the default of ${column} is no constant`));
  return findings;
}

function findInConstraint(
  { contype, conname, skip_validation: isLater, indexname }: Node,
  table: string,
): Finding[] {
  const name = conname === undefined ? '' : ` ${conname}`;
  if (contype === 'CONSTR_NOTNULL') return [contract(`makes a column of ${table} NOT NULL`)];
  if (/UNIQUE|PRIMARY|EXCLUSION/.test(contype)) {
    return indexname === undefined
      ? [locks(`builds the index of the constraint${name} while ${table} is locked`)]
      : [];
  }
  if (isLater) return [];
  return [
    locks(
      `reads all rows of ${table} for the constraint${name}; add it NOT VALID, and validate it in the next migration`,
    ),
  ];
}
