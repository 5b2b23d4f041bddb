import { describe, expect, test } from '@jest/globals';
import { type DatedRecords, makeMonth, startDatedRecords } from './dated-records.ts';
import { verifyRecords } from './verify-command.ts';

describe('chains that have moved', () => {
  const NOW = new Date().toISOString();

  /** The writers that each checkpoint lists, with their positions. */
  async function listed(records: DatedRecords) {
    return (await records.stored()).map(({ heads }) => heads.map(({ writer, seq }) => [writer, seq]));
  }

  const numbersOf = async (records: DatedRecords) => (await records.stored()).map(({ number }) => number);

  async function writersOf({ admin }: DatedRecords): Promise<string[]> {
    const { rows } = await admin.query<{ writer: string }>(
      'SELECT writer FROM access_batch WHERE seq = 0 ORDER BY at',
    );
    return rows.map(({ writer }) => writer);
  }

  test('a checkpoint lists the chains of the day before the previous one, and a chain that it omits stays signed', async () => {
    await using records = await startDatedRecords(NOW);
    await records.record('one');
    records.clock.advance(10);
    await records.record('other');
    expect(await records.checkpoints.take()).toBe(true);
    records.clock.advance(86_400_000);
    await records.record('other');
    expect(await records.checkpoints.take()).toBe(true);
    expect(await records.checkpoints.take()).toBe(false);
    records.clock.advance(86_400_000);
    await records.record('other');
    expect(await records.checkpoints.take()).toBe(true);
    const [one, other] = await writersOf(records);
    const [first, second, third] = await listed(records);
    expect((await records.stored())[0]).toMatchObject({ number: 1, previous: null, keptFrom: null });
    // Each of these accesses is refused, which adds another batch.
    expect(first).toEqual(
      expect.arrayContaining([
        [one, 1],
        [other, 1],
      ]),
    );
    expect(second).toHaveLength(2);
    expect(third).toEqual([[other, 5]]);
    expect(await verifyRecords(records)).toMatchObject({ ok: true, checkpoints: 3 });
    await records.admin.query('DELETE FROM access_record WHERE writer = $1 AND seq = 1', [one]);
    await records.admin.query('DELETE FROM access_batch WHERE writer = $1 AND seq = 1', [one]);
    expect(await verifyRecords(records)).toMatchObject({
      fault: { kind: 'removed', subject: 'batch', writer: one, seq: 1 },
    });
  });

  test('one instance signs for all in an interval, and another one does if it ended before signing', async () => {
    await using records = await startDatedRecords(NOW);
    const ended = records.createInstance({ signer: { sign: () => Promise.reject(new Error('ended')) } });
    const instances = [records.createInstance(), records.createInstance(), records.createInstance()];
    for (const expected of [1, 2, 3]) {
      await records.record(`chain ${expected}`);
      await expect(ended.takeDue()).rejects.toThrow('ended');
      const signed = await Promise.all(instances.map((instance) => instance.takeDue()));
      expect(signed.filter(Boolean)).toHaveLength(1);
      await records.record(`chain ${expected}`);
      for (const instance of instances) expect(await instance.takeDue()).toBe(false);
      expect(await records.stored()).toHaveLength(expected);
      await records.endInterval();
    }
    expect(await verifyRecords(records)).toMatchObject({ ok: true, checkpoints: 3 });
  });

  test('concurrent signers form one sequence over all chains', async () => {
    await using records = await startDatedRecords(NOW);
    const instances = [records.createInstance(), records.createInstance(), records.createInstance()];
    for (let turn = 0; turn < 10; turn += 1) {
      const signing = instances.map((instance) => instance.take());
      await Promise.all([records.record('one'), records.record('other'), ...signing]);
    }
    const numbers = await numbersOf(records);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(await verifyRecords(records)).toMatchObject({ ok: true });
  });

  test('checkpoints never confirm a drop that policy does not allow, whatever the database contains', async () => {
    await using records = await startDatedRecords(NOW);
    for (let turn = 0; turn < 3; turn += 1) {
      await records.record();
      await records.checkpoints.take();
    }
    await records.admin.query(
      `INSERT INTO consent_audit.access_dropped SELECT writer, seq, at, hash, now() FROM access_batch WHERE seq = 1`,
    );
    await records.admin.query('DELETE FROM access_record WHERE seq <= 1');
    await records.admin.query('DELETE FROM access_batch WHERE seq <= 1');
    await records.record();
    expect(await records.checkpoints.take()).toBe(true);
    expect(await verifyRecords(records)).toMatchObject({
      fault: { kind: 'removed', subject: 'batch', seq: 1 },
    });
  });

  /** Two chains of February, one of which ends in March, and one of April, each signed in its month; February is dropped. */
  async function startDropped(): Promise<DatedRecords> {
    const records = await startDatedRecords('2024-02-10T12:00:00Z');
    for (const month of ['2024_02', '2024_03', '2024_04']) await makeMonth(records.owner, month);
    await records.record('february');
    // Dated later than recorded: signed in February, and kept with March.
    records.clock.set('2024-03-05T12:00:00Z');
    await records.record('ahead');
    records.clock.set('2024-02-10T12:01:00Z');
    await records.checkpoints.take();
    records.clock.set('2024-02-20T12:00:00Z');
    await records.record('february');
    await records.checkpoints.take();
    records.clock.set('2024-04-05T12:00:00Z');
    await records.record('april');
    await records.checkpoints.take();
    await records.owner.query('SELECT drop_access_partitions(90)');
    records.clock.set('2026-06-01T12:00:00Z');
    await records.checkpoints.take();
    return records;
  }

  test('checkpoints outlive their months, and the rest verifies', async () => {
    await using records = await startDropped();
    expect(await numbersOf(records)).toEqual([1, 2, 3, 4]);
    expect(await verifyRecords(records)).toMatchObject({ ok: true, checkpoints: 4 });
    expect(await records.checkpoints.take()).toBe(false);
    // A kept chain that only a checkpoint of a dropped month had listed is still signed.
    const writer = (await writersOf(records))[0]!;
    await records.admin.query('DELETE FROM access_record WHERE writer = $1', [writer]);
    await records.admin.query('DELETE FROM access_batch WHERE writer = $1', [writer]);
    expect(await verifyRecords(records)).toMatchObject({ fault: { kind: 'removed', writer, seq: 0 } });
  });

  test('a checkpoint of a dropped month that was changed or removed is named', async () => {
    await using records = await startDropped();
    const [first] = await records.stored();
    const forged = await records.signer.sign({ ...first, heads: [] }, new Date('2024-02-10T12:01:00Z'));
    await records.admin.query('UPDATE consent_audit.access_checkpoint SET jws = $1 WHERE number = 1', [
      forged,
    ]);
    expect(await verifyRecords(records)).toMatchObject({ fault: { kind: 'moved', subject: 'checkpoint' } });
    await records.admin.query('DELETE FROM consent_audit.access_checkpoint WHERE number = 1');
    expect(await verifyRecords(records)).toMatchObject({
      fault: { kind: 'removed', subject: 'checkpoint', detail: 'checkpoint 1 is gone' },
    });
  });
});
