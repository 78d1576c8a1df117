import { AssignerProtocol, type Cluster, type PartitionAssigner } from 'kafkajs';
import { type Claim, decodeClaim, encodeClaim } from './member-claim';
import { assignSticky } from './sticky-assignment';

const VERSION = 1;

/** Name under which the members of a group agree on this way of assigning. */
const STICKY_ASSIGNER = 'DecisionStickyAssigner';

/** Interface between the assigner and its consumer. */
interface StickyAssignerHost {
  /** Read at every join. */
  claim(): Claim;
  /** Called once, with the library's view of the cluster, before the consumer connects. */
  cluster(cluster: Cluster): void;
}

/**
 * Lets a member keep its partitions through rebalances: each says at every join what it has, and the group's leader moves only
 * what it must. For groups whose members all subscribe to the same topics; a claim names partitions of each of them.
 */
export const stickyAssigner =
  (host: StickyAssignerHost): PartitionAssigner =>
  ({ cluster }) => {
    host.cluster(cluster);
    return {
      name: STICKY_ASSIGNER,
      version: VERSION,
      protocol: ({ topics }) => ({
        name: STICKY_ASSIGNER,
        metadata: AssignerProtocol.MemberMetadata.encode({
          version: VERSION,
          topics,
          userData: encodeClaim(host.claim()),
        }),
      }),
      assign: ({ members, topics }) => {
        const claims = members.map(({ memberId, memberMetadata }) => ({
          memberId,
          ...decodeClaim(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData),
        }));
        const byTopic = topics.map((topic) => {
          const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
          return [topic, assignSticky(claims, partitions)] as const;
        });
        return Promise.resolve(
          members.map(({ memberId }) => ({
            memberId,
            memberAssignment: AssignerProtocol.MemberAssignment.encode({
              version: VERSION,
              userData: Buffer.alloc(0),
              assignment: Object.fromEntries(
                byTopic.map(([topic, shares]) => [topic, [...(shares.get(memberId) ?? [])]]),
              ),
            }),
          })),
        );
      },
    };
  };
