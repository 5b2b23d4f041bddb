-- AlterTable
ALTER TABLE "access_day" ADD COLUMN     "recorded_by_quarter" INTEGER[],
ADD COLUMN     "refused_by_quarter" INTEGER[];

-- The rest is not expressible in schema.prisma (docs/decisions/0010).
--
-- The counts of the quarter hours of the UTC day, from 1 to 96. An element is NULL where nothing is counted, which takes no space beside its bit,
-- and the array ends with the last counted quarter. `recorded` and `refused` keep their meaning: what they count beyond the arrays was counted
-- before this migration, or by an instance of the release before it.

-- The quarter hour of the time of an id (UUID version 7), counted from 1970.
CREATE FUNCTION "quarter_of_id"(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 900000)::integer;

CREATE FUNCTION "count_in_quarter"("counts" integer[], "quarter" integer) RETURNS integer[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- With its first element, so that subscripts are always those of quarters.
  IF counts IS NULL THEN counts := ARRAY[NULL]::integer[]; END IF;
  counts[quarter] := coalesce(counts[quarter], 0) + 1;
  RETURN counts;
END
$$;

-- Counts rows by their quarter of a day; NULL for no rows.
CREATE AGGREGATE "count_quarters"(integer) (SFUNC = "count_in_quarter", STYPE = integer[], PARALLEL = SAFE);

-- Adds the counts of quarters to others. Either may be NULL.
CREATE FUNCTION "add_quarters"("kept" integer[], "added" integer[]) RETURNS integer[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF kept IS NULL OR added IS NULL THEN RETURN coalesce(kept, added); END IF;
  FOR quarter IN 1 .. cardinality(added) LOOP
    IF added[quarter] IS NOT NULL THEN kept[quarter] := coalesce(kept[quarter], 0) + added[quarter]; END IF;
  END LOOP;
  RETURN kept;
END
$$;
