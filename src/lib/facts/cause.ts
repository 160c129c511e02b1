/** Why something is not as it should be, named as deep as the cluster tells: condition → component → pod → container → image, node or event. */
export interface Cause {
  kind: CauseKind
  /** `virt-handler`, `virt-operator`, or `install strategy` for the Job that dumps it; of several the first. */
  component: string
  /** All of them, where one cause holds several up. */
  components?: readonly string[]
  /** The word that Kubernetes or KubeVirt uses: ImagePullBackOff, Unschedulable, NotReady, DeploymentFailed … */
  reason: string
  /** The CR's condition that is not as it must be: `Available=False (DeploymentFailed)`. */
  condition?: string
  /** It does not get better by waiting: for 15 s of it the verdict is Stalled. */
  terminal: boolean
  namespace: string
  pods: readonly string[]
  nodes: readonly string[]
  container?: string
  image?: string
  /** What was said about it, with the middle of long texts left out. */
  message?: string
  /** What the container's log ends with, where it was read. */
  lastLog?: string
  /** RFC 3339; "at least". */
  since?: string
  /** The whole of it in one sentence, without its duration. */
  sentence: string
  /** Commands that show more. */
  look: readonly string[]
}

export type CauseKind =
  | 'image'
  | 'crash'
  | 'container'
  | 'unschedulable'
  | 'node'
  | 'terminating'
  | 'not-ready'
  /** A pod could not even be created. */
  | 'refused'
  /** virt-operator gave up for now: DeploymentFailed. */
  | 'failed'
  /** DeploymentFailed because virt-operator may not grant what the new version needs (lab 13). */
  | 'forbidden'
  /** A webhook does not answer, or says no to virt-operator. */
  | 'webhook'
  /** The API server refuses a CRD that drops a version in which objects are stored. */
  | 'stored-versions'
  /** virt-operator stopped the roll of virt-handler. */
  | 'canary'
  /** A DaemonSet's pod on a node that is not its any more. */
  | 'misscheduled'
  /** A leader does not renew its Lease while it is watched. */
  | 'lease'
  /** An API that KubeVirt adds is unavailable. */
  | 'api'
  /** Nobody is there to answer a webhook of KubeVirt. */
  | 'webhook-silent'
  /** Most VMs do not run, for one reason. */
  | 'vms'
  /** Nothing changed for long, and nothing that was looked at says why. */
  | 'quiet'

/** Whether it holds this component up. */
export function concerns({ component, components = [component] }: Cause, name: string): boolean {
  return components.includes(name)
}
