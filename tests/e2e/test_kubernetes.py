# SPDX-License-Identifier: Apache-2.0
"""packaging/kubernetes without a cluster: its files fit one another, the program and packaging/prometheus. What the pod may do is
tried in e2e/test_container.py."""

import ctypes
import glob
import json
import os
import re

import e2e  # before modules of Debian's python
import yaml
import packages

BINARY, ROOT = e2e.arguments()
FOLDER = f"{ROOT}/packaging/kubernetes"
X86_64, AARCH64 = 0xC000003E, 0xC00000B7  # of libseccomp
API = {"Namespace": "v1", "PriorityClass": "scheduling.k8s.io/v1", "DaemonSet": "apps/v1", "NetworkPolicy": "networking.k8s.io/v1",
       "PodMonitor": "monitoring.coreos.com/v1", "Kustomization": "kustomize.config.k8s.io/v1beta1"}
MEMORY_MAX = re.search(r"^MemoryMax=(\d+)M$", e2e.read_text(f"{ROOT}/systemd/topdownd.service.in"), re.M).group(1)


def documents():
    """{kind: object}; the kustomizations as {path: object}."""
    found, kustomizations = {}, {}
    for path in glob.glob(f"{FOLDER}/**/*.yaml", recursive=True):
        if path == f"{FOLDER}/topdownd.yaml":
            continue
        for one in yaml.safe_load_all(e2e.read_text(path)):
            assert one["apiVersion"] == API[one["kind"]], path
            if one["kind"] == "Kustomization":
                kustomizations[os.path.dirname(path)] = one
            else:
                assert one["kind"] not in found, one["kind"]
                found[one["kind"]] = one
    return found, kustomizations


OBJECTS, KUSTOMIZATIONS = documents()
POD = OBJECTS["DaemonSet"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def test_kustomizations_name_what_is_there():
    for folder, one in KUSTOMIZATIONS.items():
        for name in one["resources"]:
            assert os.path.exists(os.path.join(folder, name)), (folder, name)
        named = {os.path.normpath(os.path.join(folder, name)) for name in one["resources"]}
        ours = {path for path in glob.glob(f"{folder}/*.yaml") if os.path.basename(path) not in ("kustomization.yaml", "topdownd.yaml")}
        assert ours <= named, "each file is used"
        assert one["namespace"] == OBJECTS["Namespace"]["metadata"]["name"]
    base = KUSTOMIZATIONS[FOLDER]
    (maps,) = base["configMapGenerator"]
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    assert volumes["config"]["configMap"]["name"] == maps["name"] and maps["files"] == ["topdownd.yaml"]
    (image,) = base["images"]
    assert CONTAINER["image"] == image["name"]
    version = re.search(r"^project\(topdownd VERSION (\S+)", e2e.read_text(f"{ROOT}/CMakeLists.txt"), re.M).group(1)
    assert image["newTag"] == version
    (patch,) = KUSTOMIZATIONS[f"{FOLDER}/runtime-default"]["patches"]
    (change,) = yaml.safe_load(patch["patch"])
    place = OBJECTS[patch["target"]["kind"]]
    for step in change["path"].split("/")[1:]:
        place = place[int(step) if step.isdigit() else step]
    assert place["type"] == "Localhost" and change["value"] == {"type": "RuntimeDefault"}, place


def test_every_object_finds_the_pods_and_their_port():
    labels = OBJECTS["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    for selector in (OBJECTS["DaemonSet"]["spec"]["selector"], OBJECTS["NetworkPolicy"]["spec"]["podSelector"],
                     OBJECTS["PodMonitor"]["spec"]["selector"]):
        assert selector == {"matchLabels": labels}, selector
    (port,) = CONTAINER["ports"]
    assert f"--web.listen-address=:{port['containerPort']}" in CONTAINER["args"]
    used = [CONTAINER[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")]
    used += [OBJECTS["PodMonitor"]["spec"]["podMetricsEndpoints"][0]["port"], OBJECTS["NetworkPolicy"]["spec"]["ingress"][0]["ports"][0]["port"]]
    assert set(used) == {port["name"]}, used
    mounted = {mount["name"]: mount for mount in CONTAINER["volumeMounts"]}
    assert mounted.keys() == {volume["name"] for volume in POD["volumes"]}
    assert f"--path.sysfs={mounted['sys']['mountPath']}" in CONTAINER["args"]
    for name in ("sys", "config"):
        assert mounted[name]["readOnly"] is True
    assert mounted["sys"]["recursiveReadOnly"] == "IfPossible", "else the cgroups and debugfs below it can be written"
    assert POD["priorityClassName"] == OBJECTS["PriorityClass"]["metadata"]["name"]


def test_the_pod_has_one_capability_and_nothing_of_the_host_but_sysfs():
    rights = CONTAINER["securityContext"]
    assert rights["capabilities"] == {"drop": ["ALL"], "add": ["PERFMON"]}
    assert (rights["runAsUser"], rights["privileged"], rights["allowPrivilegeEscalation"]) == (0, False, False)
    assert rights["readOnlyRootFilesystem"] and rights["seccompProfile"]["type"] == "Localhost"
    assert not {"hostPID", "hostNetwork", "hostIPC"} & POD.keys() and POD["automountServiceAccountToken"] is False
    assert [volume["hostPath"]["path"] for volume in POD["volumes"] if "hostPath" in volume] == ["/sys"]
    assert POD["tolerations"] == [{"operator": "Exists"}], "all nodes"


def test_memory_is_limited_as_in_the_unit_and_cpu_is_not():
    assert CONTAINER["resources"]["limits"] == {"memory": f"{MEMORY_MAX}Mi"}, "throttling would distort what is measured"
    assert {"cpu", "memory"} == CONTAINER["resources"]["requests"].keys()


def test_the_arguments_and_the_configuration_are_the_programs():
    arguments = [word.replace("$(NODE_NAME)", "node-17").replace("/host/sys", "/sys") for word in CONTAINER["args"]]
    assert arguments.pop(0) == "run"
    (node,) = [variable for variable in CONTAINER["env"] if variable["name"] == "NODE_NAME"]
    assert node["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
    said = packages.run(BINARY, "check-config", "--config", f"{FOLDER}/topdownd.yaml", "--path.data", ROOT, "--pmu", "sim", *arguments)
    assert "host node-17," in said, said
    shipped = yaml.safe_load(e2e.read_text(f"{ROOT}/config/topdownd.yaml"))["profiles"]
    assert yaml.safe_load(e2e.read_text(f"{FOLDER}/topdownd.yaml"))["profiles"] == shipped, "pods measure what packages measure"


def test_the_rules_become_objects_of_the_operator():
    """The command of the documentation, without its last step."""
    (script,) = re.findall(r"```sh\n(for name in .*?)```", e2e.read_text(f"{ROOT}/docs/kubernetes.md"), re.S)
    said = packages.run("sh", "-c", script.replace("| kubectl apply -f -", ""), cwd=ROOT)
    for one, name in zip(yaml.safe_load_all(said), ("rules", "alerts", "outliers"), strict=True):
        assert (one["kind"], one["metadata"]["name"]) == ("PrometheusRule", f"topdownd-{name}"), one
        assert one["spec"] == yaml.safe_load(e2e.read_text(f"{ROOT}/packaging/prometheus/topdownd.{name}.yml"))


def test_pods_are_relabelled_as_hosts_are():
    (job,) = yaml.safe_load(e2e.read_text(f"{ROOT}/packaging/prometheus/prometheus.yml"))["scrape_configs"]
    (endpoint,) = OBJECTS["PodMonitor"]["spec"]["podMetricsEndpoints"]

    def camel(rule):
        return {re.sub(r"_(\w)", lambda m: m.group(1).upper(), key): value for key, value in rule.items()}
    assert endpoint["metricRelabelings"] == [camel(rule) for rule in job["metric_relabel_configs"]]
    assert {"targetLabel": "job", "replacement": job["job_name"]} in endpoint["relabelings"], "the alerts watch this job"
    assert {rule["targetLabel"] for rule in endpoint["relabelings"]} == {"job", "instance", "role"}


def test_the_seccomp_profile_names_known_calls_and_none_that_a_container_should_not_have():
    profile = json.loads(e2e.read_text(f"{FOLDER}/seccomp.json"))
    names = [name for rule in profile["syscalls"] for name in rule["names"]]
    assert len(names) == len(set(names)) and "perf_event_open" in names
    assert CONTAINER["securityContext"]["seccompProfile"]["localhostProfile"] == "topdownd.json"
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise e2e.Skip("libseccomp is not installed (Debian package libseccomp2)") from None
    for name in names:
        assert any(library.seccomp_syscall_resolve_name_arch(ctypes.c_uint32(arch), name.encode()) >= 0 for arch in (X86_64, AARCH64)), name
    packages.need("systemd-analyze", "systemd")
    bad = {"unshare", "setns", "clone3", "bpf", "userfaultfd", "process_vm_writev", "personality"}
    for group in ("@privileged", "@mount", "@debug", "@module", "@reboot", "@swap", "@raw-io", "@clock", "@keyring", "@obsolete"):
        said = packages.run("systemd-analyze", "--no-pager", "syscall-filter", group)
        bad |= set(re.findall(r"^ +([a-z]\w+)$", said, re.M)) - {"perf_event_open"}
    assert not bad & set(names), bad & set(names)
    assert f"the {len(names)} system calls" in e2e.read_text(f"{ROOT}/docs/kubernetes.md")
    return f"{len(names)} system calls"


if __name__ == "__main__":
    e2e.run_tests()
