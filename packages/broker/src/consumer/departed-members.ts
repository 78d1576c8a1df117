import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from 'kafkajs';
import { brokerErrorType } from '../connection/broker-error';

/** A broker that has just come back reads its groups first; it is asked again, for three seconds. */
const NOT_YET: ReadonlySet<string | undefined> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);
const ATTEMPTS = 15;
const PAUSE_MS = 200;

/** Methods of the library's broker that its types leave out. */
interface Coordinator {
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  describeGroups(request: { groupIds: readonly string[] }): Promise<{
    readonly groups: readonly {
      readonly members: readonly { readonly memberId: string; readonly clientId: string }[];
    }[];
  }>;
}

const withCoordinator = async (
  cluster: Cluster,
  groupId: string,
  work: (coordinator: Coordinator) => Promise<void>,
): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const coordinator: unknown = await cluster.findGroupCoordinator({ groupId });
      await work(coordinator as Coordinator); // every version of the library's broker has these methods
      return;
    } catch (error) {
      if (!NOT_YET.has(brokerErrorType(error)) || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
};

/** Takes a member out of its group that cannot say so itself any more: the others need not wait for it. */
export const leaveFor = async (cluster: Cluster, groupId: string, memberId: string): Promise<void> => {
  await withCoordinator(cluster, groupId, async (coordinator) => {
    await coordinator.leaveGroup({ groupId, memberId });
  });
};

/**
 * Takes every member out of a group that goes by this client's name: where no two live processes share the name, they are
 * processes that died in this one's place. To be called before joining.
 */
export const leaveForPredecessors = async (cluster: Cluster, groupId: string, clientId: string): Promise<void> => {
  await withCoordinator(cluster, groupId, async (coordinator) => {
    const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
    for (const { members } of groups)
      for (const member of members)
        if (member.clientId === clientId) await coordinator.leaveGroup({ groupId, memberId: member.memberId });
  });
};
