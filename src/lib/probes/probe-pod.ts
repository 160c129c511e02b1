import { type Pod, Pods } from '../cluster/kinds/pods.ts'
import type { Probe } from './probe.ts'

/** On every pod of a probe, with the name of its run: whatever becomes of the run, its pods are found by it. */
export const probeLabel = 'kvup.io/probe'

/** How long a pull may take, seconds: then Kubernetes ends the pod, whether kvup is still there or not. */
export const pullLimit = 600

/** Which run it belongs to, and what tells its pods apart. */
export interface PodIdentity {
  name: string
  namespace: string
  run: string
}

/** A program that no image has: once the image is there the pod has nothing to run, and ends. */
const nothing = '/kvup-runs-nothing'

/**
 * A pod that is pulled for and never runs: bound to its node past the scheduler, without a token, restricted by every setting of Pod Security,
 * with requests and limits, which quotas ask for.
 */
export function probePod({ image, node, pulling }: Probe, { name, namespace, run }: PodIdentity): Pod {
  const { imagePullPolicy, ...secrets } = pulling
  const little = { cpu: '1m', memory: '16Mi' }
  return {
    apiVersion: Pods.apiVersion,
    kind: Pods.kind,
    metadata: {
      name,
      namespace,
      labels: { [probeLabel]: run, 'app.kubernetes.io/managed-by': 'kvup' },
    },
    spec: {
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: pullLimit,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...secrets,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'probe',
          image,
          ...(imagePullPolicy && { imagePullPolicy }),
          command: [nothing],
          resources: { requests: little, limits: little },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}
