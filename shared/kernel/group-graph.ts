/** Which named groups contain which groups: the whole graph of an organization in one item (DESIGN 6). */
export interface GroupGraph {
  readonly version: number;
  /** Group id (as text, since it is an attribute name) -> the groups directly inside it. */
  readonly edges: Readonly<Record<string, readonly number[]>>;
  /** Group -> those who came into it with its creation and are not stored one by one yet (`pending-members.ts`). */
  readonly arriving?: Readonly<Record<string, readonly number[]>>;
}

declare module '../table/keys.ts' {
  interface ItemTypes {
    groupGraph: GroupGraph;
  }
}

/** How many IDs these lists of a graph hold. */
export const sizeOfLists = (lists: GroupGraph['edges']): number =>
  Object.values(lists).reduce((sum, list) => sum + list.length, 0);

/** How many IDs a graph holds: its size. */
export const sizeOfGraph = ({ edges, arriving = {} }: GroupGraph): number =>
  sizeOfLists(edges) + sizeOfLists(arriving);

export const noGroups: GroupGraph = { version: 0, edges: {} };
