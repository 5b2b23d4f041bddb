import type { Cluster } from '../cluster.ts';

/** A way in which the cluster changes its leader, or loses a node, without losing an acknowledged change. */
export interface ClusterFault {
  readonly name: string;
  readonly what: string;
  /** Part of the revocations during this fault. */
  readonly share: number;
  /** Causes the fault. Resolves when the cluster works again. */
  play(cluster: Cluster, say: (text: string) => void): Promise<void>;
  /** Brings the cluster back to three nodes, after the revocations. */
  repair?(cluster: Cluster): Promise<void>;
}

const startMissing = async (cluster: Cluster) => {
  for (const node of cluster.nodes) await node.start();
};

export const FAULTS: readonly ClusterFault[] = [
  {
    name: 'leader-killed',
    what: 'every process of the leading node is killed at once: Postgres, Patroni and etcd',
    share: 1,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      await leader.kill();
      say(`${leader.name}, the leader, is killed`);
      say(`${(await cluster.leader(leader)).name} leads`);
      await cluster.untilReachable();
    },
    repair: startMissing,
  },
  {
    name: 'leader-frozen',
    what: 'the leading node stops without ending, keeps its connections, and continues when another one leads',
    share: 0.2,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      const thaw = leader.freeze();
      say(`${leader.name}, the leader, is frozen`);
      try {
        say(`${(await cluster.leader(leader)).name} leads`);
        await cluster.untilReachable();
      } finally {
        thaw();
      }
      say(`${leader.name} continues, and believes for a moment that it still leads`);
    },
  },
  {
    name: 'standby-killed',
    what: 'every process of one standby is killed at once',
    share: 0.2,
    play: async (cluster, say) => {
      const [standby] = await cluster.standbys();
      await standby?.kill();
      say(`${standby?.name}, a standby, is killed`);
      await cluster.untilLost(standby?.name ?? '');
      say('Patroni has noticed it');
    },
    repair: startMissing,
  },
  {
    name: 'switchover',
    what: 'an operator moves the leadership to another node, as for maintenance',
    share: 0.2,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      const [candidate] = await cluster.standbys();
      const names = ['--leader', leader.name, '--candidate', candidate?.name ?? ''];
      await cluster.patronictl(leader, ['switchover', 'phds', ...names, '--force']);
      say(`${leader.name} gave the leadership to ${(await cluster.leader(leader)).name}`);
      await cluster.untilReachable();
    },
  },
];
