import type { Cluster } from '../cluster.ts';
import { fillIn, readDeployed } from '../templates.ts';

/**
 * Creates the cluster anew from the backups, at its state at this time: docs/operations/postgres.md. The data of before is kept beside
 * the new one.
 */
export async function restoreTo(cluster: Cluster, time: string, label: string): Promise<void> {
  const leader = await cluster.leader();
  const standbys = await cluster.standbys();
  // The standbys first, so that none of them is promoted.
  for (const node of [...standbys, leader]) await node.stopPatroni();
  await cluster.forget(leader);
  for (const node of cluster.nodes) await node.setDataAside(label);
  const [first] = cluster.nodes;
  await first?.configure('30-restore.yml', fillIn(await readDeployed('restore.yml'), { RESTORE_TIME: time }));
  await cluster.create();
  await first?.removeConfiguration('30-restore.yml');
}
