# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# fio with verification, undisturbed and with the connection broken again and again. The group uses version 1 or 2,
# according to version_here(). case_fio-broken-other uses the other version, for a shorter time.
# Guests: alone
# Limit: 2400
. "$TOP/scripts/tests/cases.sh"
. "$TOP/scripts/tests/broken.sh"
CASE_LIMIT=600
FIO_SECONDS=${FIO_SECONDS:-60}

# Covers: V1-ERR-25
case_fio-broken() { fio_broken $((1 + FIO_SECONDS / 30)); }
# Covers: V1-ERR-25
case_fio-broken-other() { FIO_SECONDS=$((FIO_SECONDS / 3)) in_other_version fio_broken 2; }

case_fio() { with_mount 4.2 fio_verify; }
case_fio-v3() { FIO_SECONDS=$((FIO_SECONDS / 3)) with_mount 3 fio_verify; }

case_same-version() { same_version; }

before_case() { highest "$(version_here)"; }

group() { group_in_version; }
