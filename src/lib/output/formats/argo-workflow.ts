import { retriedCodes, usageError } from '../../kube/errors.ts'
import type { FleetPlanDocument, PlannedCluster } from '../../fleet/fleet-plan.ts'
import { isWhole } from '../views/fleet-words.ts'
import { yamlText } from './yaml-text.ts'

/**
 * The groups of a fleet plan for Argo Workflows: each a list of parallel steps, and a suspend behind the canary, until a person resumes it. A step that fails ends the workflow after its group.
 * The plans lie in a ConfigMap and the kubeconfig in a Secret, which parameters name; the image is a parameter without a default. Throws `usage` for a plan that no such pod could carry out.
 */
export function argoWorkflow(plan: Pick<FleetPlanDocument, 'to' | 'clusters'>): string {
  const { to, clusters } = plan
  if (!isWhole(plan)) return '# There is no workflow: the plan is not sealed.\n'
  ensureCarried(clusters)
  const numbers = [...new Set(clusters.map(({ group }) => group))]
  const groups = numbers.map((group) => clusters.filter((one) => one.group === group).map(stepOf))
  // Behind the canary a person looks.
  if (numbers[0] === 0 && numbers.length > 1)
    groups.splice(1, 0, [{ name: 'canary-well', template: 'person' }])
  const workflow = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: `kvup-fleet-${to.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-')}-` },
    spec: {
      entrypoint: 'groups',
      arguments: {
        parameters: [
          { name: 'image' },
          { name: 'plans', value: 'kvup-fleet-plans' },
          { name: 'kubeconfig', value: 'kvup-fleet-kubeconfig' },
        ],
      },
      parallelism: 16,
      serviceAccountName: account,
      // Only the executor of Argo asks this cluster; kvup has no token of it.
      automountServiceAccountToken: false,
      executor: { serviceAccountName: account },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      volumes: [
        { name: 'plans', configMap: { name: '{{workflow.parameters.plans}}' } },
        { name: 'kubeconfig', secret: { secretName: '{{workflow.parameters.kubeconfig}}' } },
        ...['work', 'home', 'tmp'].map((name) => ({ name, emptyDir: {} })),
      ],
      templates: [{ name: 'groups', steps: groups }, { name: 'person', suspend: {} }, clusterTemplate],
    },
  }
  return `${head}${yamlText(workflow, true)}`
}

const account = 'kvup-fleet'

const head = [
  'What it needs in its namespace, before argo submit FILE -p image=NAME@sha256:DIGEST',
  '  kubectl create configmap kvup-fleet-plans --from-file=FOLDER',
  '  kubectl create secret generic kvup-fleet-kubeconfig --from-file=config=FILE',
  `  service account ${account} with the rights of an executor of Argo, and its token as a Secret`,
]
  .map((line) => `# ${line}\n`)
  .join('')

/** What stands in a value is a template for Argo where it has two braces; and a kubeconfig of its own is a path that the pod does not have. */
function ensureCarried(clusters: readonly PlannedCluster[]): void {
  const template = clusters.find(({ context }) => /\{\{|\}\}/u.test(context))
  if (template)
    throw usageError(
      'name-is-template',
      `Argo Workflows would read the context ${JSON.stringify(template.context)} as a template`,
      { remedy: 'give it another name: kubectl config rename-context' },
    )
  const own = clusters.find(({ kubeconfig }) => kubeconfig !== undefined)
  if (own)
    throw usageError(
      'kubeconfig-of-its-own',
      `cluster ${JSON.stringify(own.name)} has a kubeconfig of its own (${own.kubeconfig}), and the pods of the workflow share one`,
      {
        remedy:
          'merge them with kubectl config view --flatten, and make the plan with that kubeconfig and --contexts',
      },
    )
}

interface WorkflowStep {
  name: string
  template: string
  arguments?: object
}

/** Its name is unique by its numbers; that of the cluster is there to be read. */
function stepOf({ name, context, uid, group }: PlannedCluster, at: number): WorkflowStep {
  const readable = name.replaceAll(/[^a-zA-Z0-9]+/gu, '-')
  const step = `${group === 0 ? 'canary' : `group-${group}`}-${at + 1}-${readable}`
  return {
    name: step.slice(0, 60).replace(/-+$/u, ''),
    template: 'cluster',
    arguments: {
      parameters: [
        { name: 'context', value: context },
        { name: 'uid', value: uid },
      ],
    },
  }
}

/** The same line again continues after each of these ends; every other one needs a person. A pod that is lost is an error, not a failure. */
const retryStrategy = {
  limit: '6',
  retryPolicy: 'Always',
  expression: `lastRetry.status == "Error" || asInt(lastRetry.exitCode) in [${retriedCodes.join(', ')}]`,
  backoff: { duration: '30s', factor: '2' },
}

const clusterTemplate = {
  name: 'cluster',
  inputs: { parameters: [{ name: 'context' }, { name: 'uid' }] },
  retryStrategy,
  container: {
    name: 'main',
    image: '{{workflow.parameters.image}}',
    command: ['/usr/bin/kvup'],
    args: [
      'upgrade',
      '--plan=/plans/{{inputs.parameters.uid}}.yaml',
      '--kubeconfig=/kubeconfig/config',
      '--context={{inputs.parameters.context}}',
      '--yes',
      '--output=json',
    ],
    workingDir: '/work',
    env: [
      { name: 'HOME', value: '/home/kvup' },
      { name: 'TMPDIR', value: '/tmp' },
    ],
    resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    },
    volumeMounts: [
      { name: 'plans', mountPath: '/plans', readOnly: true },
      { name: 'kubeconfig', mountPath: '/kubeconfig', readOnly: true },
      { name: 'work', mountPath: '/work' },
      { name: 'home', mountPath: '/home/kvup' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  },
}
