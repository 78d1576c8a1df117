import type { Cluster } from 'kafkajs';

/** What the library's broker can do though its types do not say so. */
interface Coordinator {
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  describeGroups(request: { groupIds: readonly string[] }): Promise<{
    readonly groups: readonly {
      readonly members: readonly { readonly memberId: string; readonly clientId: string }[];
    }[];
  }>;
}

const coordinatorOf = async (cluster: Cluster, groupId: string): Promise<Coordinator> => {
  const coordinator: unknown = await cluster.findGroupCoordinator({ groupId });
  return coordinator as Coordinator; // every version of the library's broker has these methods
};

/** Takes a member out of its group that cannot say so itself any more: the others need not wait for it. */
export const leaveFor = async (cluster: Cluster, groupId: string, memberId: string): Promise<void> => {
  await (await coordinatorOf(cluster, groupId)).leaveGroup({ groupId, memberId });
};

/**
 * Takes every member out of a group that goes by this client's name: where no two live processes share the name, they are
 * processes that died in this one's place. To be called before joining.
 */
export const leaveForPredecessors = async (cluster: Cluster, groupId: string, clientId: string): Promise<void> => {
  const coordinator = await coordinatorOf(cluster, groupId);
  const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
  for (const { members } of groups)
    for (const member of members)
      if (member.clientId === clientId) await coordinator.leaveGroup({ groupId, memberId: member.memberId });
};
