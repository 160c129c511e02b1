import { type ClusterOperator, ClusterOperators } from '../../cluster/kinds/openshift.ts'
import type { Store } from '../api/store.ts'
import { releaseOf } from './release-number.ts'
import type { OpenShiftShape } from './shape.ts'

/** The server's own `/version` is that of the installed release, and follows kube-apiserver's ClusterOperator. */
export function serveReleaseVersion(store: Store, { graph, version }: OpenShiftShape): void {
  become(store, releaseOf(graph, version)?.kubernetes)
  store.watch(ClusterOperators, ({ object }) => {
    if (object.metadata.name !== 'kube-apiserver') return
    const { status } = object as ClusterOperator
    become(store, status?.versions?.find(({ name }) => name === 'kube-apiserver')?.version)
  })
}

function become(store: Store, kubernetes: string | undefined): void {
  const [major, minor] = kubernetes?.split('.') ?? []
  if (major !== undefined && minor !== undefined)
    store.version = { gitVersion: `v${kubernetes}`, major, minor }
}
