/** Label that tells which template a DaemonSet's pod was made from. */
export const revisionLabel = 'controller-revision-hash'
