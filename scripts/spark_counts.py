#!/usr/bin/env python3
"""Counts games on a Spark cluster: each task pipes one file through `tabiya build -o -`, and Spark adds up.

    spark-submit scripts/spark_counts.py --tabiya EXECUTABLE --output DIR INPUT... [-- OPTIONS OF tabiya build]

With plain `python` it runs on this machine's processors. docs/guide/count-files.md says what it needs and how to size it.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

ENDINGS = (".pgn", ".pgn.gz", ".pgn.zst")
COUNTS = ("wins", "draws", "losses")

# tabiya's exit code for a source that could not be read to its end.
INCOMPLETE = 1
# Rows that go to Spark at a time.
BATCH = 1 << 16
# Bytes of a program's messages that are reported.
MOST_SAID = 1000


class Program:
    """What the tasks run. It goes to the executors as it is, so it holds nothing but texts and numbers."""

    def __init__(self, name, options, columns, cat, settings, attempts):
        self.name = name
        self.options = options
        self.columns = columns
        self.cat = cat
        self.settings = settings
        self.attempts = attempts

    def batches(self, uri, temp):
        """The counts of a file as record batches of Spark's types; raises what a retry may help against.

        Raises `Broken` for a file that no retry makes readable.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq
        from pyspark import SparkFiles

        path = os.path.join(temp, "counts.parquet")
        line = [SparkFiles.get(self.name), "build", "-o", "-", "--temp", temp, *self.options, "-"]
        with open(path, "wb") as out, open(os.path.join(temp, "said"), "w+b") as said, self.source(uri, temp) as source:
            # What it writes counts only when it has ended well: nothing may go to Spark before.
            done = subprocess.run(line, stdin=source.stdout, stdout=out, stderr=said, check=False)
            if done.returncode in (0, INCOMPLETE):
                source.check()
            words = text_of(said)
        if done.returncode < 0:
            raise RuntimeError(f"tabiya was ended by signal {-done.returncode}")
        if done.returncode == INCOMPLETE:
            raise Broken(words)
        if done.returncode != 0:
            raise RuntimeError(f"tabiya ended with code {done.returncode}: {words}")
        with pq.ParquetFile(path) as counts:
            for batch in counts.iter_batches(BATCH):
                # Spark has no unsigned numbers: a key is the same 64 bits, and counts are far below 2^63.
                columns = {name: batch.column(name) for name in self.columns}
                columns["key"] = columns["key"].view(pa.int64())
                columns["move"] = columns["move"].cast(pa.int32())
                columns |= {name: columns[name].cast(pa.int64()) for name in COUNTS}
                columns["position"] = columns["position"].cast(pa.binary())
                if "rating" in columns:
                    columns["rating"] = columns["rating"].cast(pa.int32())
                yield pa.RecordBatch.from_pydict(columns)

    def source(self, uri, temp):
        """The bytes of a file: from the disk, or else as a stream through Hadoop's client or another program."""
        parts = urlsplit(uri)
        if parts.scheme in ("", "file"):
            return Local(unquote(parts.path) if parts.scheme else uri)
        return Stream(placed(self.cat, uri) if self.cat else hadoop_cat(uri, self.settings, temp), temp)


class Broken(Exception):
    """A file that cannot be read to its end."""


class Local:
    """A file of this machine."""

    def __init__(self, path):
        self.stdout = open(path, "rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stdout.close()

    def check(self):
        """Nothing can be wrong that tabiya does not see."""


class Stream:
    """A file that a program copies to its standard output."""

    def __init__(self, line, temp):
        self.said = open(os.path.join(temp, "cat"), "w+b")
        self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.said)
        self.stdout = self.process.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stdout.close()
        self.process.kill()
        self.process.wait()
        self.said.close()

    def check(self):
        """Raises unless all bytes came."""
        if code := self.process.wait():
            raise RuntimeError(f"the program that reads it ended with code {code}: {text_of(self.said)}")


def placed(words, uri):
    """A command with a URI at its `{}`, or else at its end."""
    if any("{}" in word for word in words):
        return [word.replace("{}", uri) for word in words]
    return [*words, uri]


def text_of(said):
    """What a program has said, on one line."""
    said.seek(0)
    return "; ".join(said.read(MOST_SAID).decode(errors="replace").replace("tabiya: ", "").splitlines())


def hadoop_cat(uri, settings, temp):
    """The command line of Hadoop's client that copies a file: the one in Spark's own Java archives."""
    home = os.environ.get("SPARK_HOME")
    if not home:
        try:
            from pyspark.find_spark_home import _find_spark_home

            home = _find_spark_home()
        except (ImportError, SystemExit):
            home = ""
    jars = os.path.join(home, "jars")
    # In YARN's containers Spark's archives are not in its home, but on Java's path.
    where = os.path.join(jars, "*") if os.path.isdir(jars) else os.environ.get("CLASSPATH", "")
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    # Hadoop's client does not start without this file.
    with open(os.path.join(temp, "core-site.xml"), "w") as out:
        out.write("<configuration/>")
    path = os.pathsep.join(filter(None, [os.environ.get("HADOOP_CONF_DIR"), temp, where]))
    line = [java, "-Xmx256m", "-cp", path, "org.apache.hadoop.fs.FsShell"]
    if settings:
        # In a file, because they may hold secrets, and command lines are public.
        conf = os.path.join(temp, "hadoop.xml")
        with open(os.open(conf, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
            rows = (f"<property><name>{escape(k)}</name><value>{escape(v)}</value></property>" for k, v in settings)
            out.write(f"<configuration>{''.join(rows)}</configuration>")
        line += ["-conf", conf]
    return [*line, "-cat", uri]


def counting(program, uris, broken):
    """The function of a task: it is given the numbers of files, and yields their counts."""

    def count(batches):
        from pyspark import SparkFiles, TaskContext

        for batch in batches:
            for number in batch.column(0).to_pylist():
                # In the executor's own folder, which Spark removes even if this process is killed.
                temp = tempfile.mkdtemp(prefix="tabiya-", dir=SparkFiles.getRootDirectory())
                try:
                    yield from program.batches(uris[number], temp)
                except Broken as error:
                    broken.add({uris[number]: str(error)})
                except (RuntimeError, OSError) as error:
                    # Spark tries again, on another machine if it can. The last time the other files must not suffer.
                    if TaskContext.get().attemptNumber() + 1 < program.attempts:
                        raise RuntimeError(f"{uris[number]}: {error}") from None
                    broken.add({uris[number]: str(error)})
                finally:
                    shutil.rmtree(temp, ignore_errors=True)

    return count


def broken_files(context):
    """What tasks report about files that they skip; a file that is reported twice is reported once."""
    from pyspark.accumulators import AccumulatorParam

    class Union(AccumulatorParam):
        def zero(self, value):
            return {}

        def addInPlace(self, one, other):
            return one | other

    return context.accumulator({}, Union())


def attempts(context):
    """How often Spark tries a task."""
    if local := re.fullmatch(r"local(?:\[[^,\]]*(?:,\s*(\d+)\s*)?\])?", context.master):
        return int(local[1] or 1)
    return int(context.getConf().get("spark.task.maxFailures", "4"))


def listed(context, inputs):
    """The files that the inputs mean, largest first: they would hold up the end. Raises `LookupError` for one that means none."""
    jvm, configuration = context._jvm, context._jsc.hadoopConfiguration()
    found = {}
    for given in inputs:
        path = jvm.org.apache.hadoop.fs.Path(given)
        system = path.getFileSystem(configuration)
        files = []
        for status in system.globStatus(path) or []:
            inside = system.listStatus(status.getPath()) if status.isDirectory() else None
            named = [one for one in inside if one.getPath().getName().endswith(ENDINGS)] if inside is not None else [status]
            files += [one for one in named if not one.isDirectory()]
        if not files:
            raise LookupError(f"{given}: there is no such file, or no {', '.join(ENDINGS)} in the folder")
        found |= {one.getPath().toString(): one.getLen() for one in files}
    return sorted(found, key=lambda uri: (-found[uri], uri))


def columns_of(options):
    """The columns that tabiya writes with these options, and Spark's types for them."""
    flags = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    flags.add_argument("--by", action="append", default=[])
    known, _ = flags.parse_known_args(options)
    by = {word.strip() for given in known.by for word in given.split(",")}
    columns = {"key": "long", "move": "int"} | dict.fromkeys(COUNTS, "long") | {"position": "binary"}
    if "speed" in by:
        columns["speed"] = "string"
    if "rating" in by:
        columns["rating"] = "int"
    return columns


def arguments(words):
    parser = argparse.ArgumentParser(
        description="Counts games on a Spark cluster, into a folder of Parquet files that tabiya build and merge read.",
        epilog="After -- come options of `tabiya build`, such as --max-ply 24 --by speed,rating.",
    )
    parser.add_argument("--tabiya", required=True, metavar="EXECUTABLE", help="the executable, which is sent to the executors")
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder to write, on any file system of Spark")
    parser.add_argument("--force", action="store_true", help="replace the folder if it exists")
    parser.add_argument(
        "--cat", metavar="COMMAND", help="a command that copies a file to its standard output; {} stands for its URI"
    )
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="files .pgn, .pgn.gz or .pgn.zst, patterns, or folders of them")
    at = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:at])
    return given, words[at + 1 :]


def session():
    """Spark, which `spark-submit` configures; otherwise this machine's processors, each task tried four times."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    # Without Java running, a configuration does not know what spark-submit was told.
    SparkContext._ensure_initialized()
    builder = SparkSession.builder.appName("tabiya counts")
    master = SparkConf().get("spark.master", "local[*]")
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master == "local[*]":
        # Spark's default, which tries each task once.
        builder = builder.master("local[*,4]")
    return builder.getOrCreate()


def fail(what):
    print(f"spark_counts: {what}", file=sys.stderr)
    return 2


def main(words):
    given, options = arguments(words)
    executable = shutil.which(given.tabiya) or given.tabiya
    # Better now than in each task.
    try:
        line = [executable, "build", "-o", "-", *options, "-"]
        tried = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        return fail(f"{given.tabiya}: {error.strerror}")
    if tried.returncode != 0:
        return fail(f"these options are refused: {tried.stderr.decode(errors='replace').removeprefix('tabiya: ').strip()}")

    spark = session()
    try:
        return run(spark, given, os.path.realpath(executable), options)
    finally:
        spark.stop()


def run(spark, given, executable, options):
    from pyspark.sql import functions as F
    from pyspark.sql.utils import AnalysisException

    context = spark.sparkContext
    try:
        uris = listed(context, given.inputs)
    except LookupError as error:
        return fail(error)
    context.addFile(executable)
    columns = columns_of(options)
    own = lambda name: any(word == name or word.startswith(f"{name}=") for word in options)
    # A task has the processors that Spark gives it, and executors run several tasks.
    if not own("--threads"):
        options = ["--threads", context.getConf().get("spark.task.cpus", "1"), *options]
    if not own("--memory"):
        options = ["--memory", "1G", *options]
    prefix = "spark.hadoop."
    settings = [(key[len(prefix) :], value) for key, value in context.getConf().getAll() if key.startswith(prefix)]
    cat = shlex.split(given.cat) if given.cat else []
    program = Program(os.path.basename(executable), options, list(columns), cat, settings, attempts(context))

    broken = broken_files(context)
    schema = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    # One number, one partition, one task for each file.
    counts = spark.range(0, len(uris), 1, len(uris)).mapInArrow(counting(program, uris, broken), schema)
    keys = [name for name in columns if name not in (*COUNTS, "position")]
    sums = [F.sum(name).alias(name) for name in COUNTS]
    sums.append(F.min("position").alias("position"))
    # The order of unsigned keys, which Spark's numbers do not have.
    unsigned = F.col("key").bitwiseXOR(F.lit(-(1 << 63)))
    whole = counts.groupBy(*keys).agg(*sums).orderBy(unsigned, *keys[1:]).select(*columns)
    try:
        whole.write.mode("overwrite" if given.force else "errorifexists").parquet(given.output)
    except AnalysisException as error:
        if "EXISTS" not in str(error).upper():
            raise
        return fail(f"{given.output} exists already: name another folder, or replace it with --force")
    for uri, what in sorted(broken.value.items()):
        print(f"spark_counts: skipped: {uri}: {what}", file=sys.stderr)
    sound = len(uris) - len(broken.value)
    print(f"{given.output}: the counts of {sound} of {len(uris)} files")
    return 1 if broken.value else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
