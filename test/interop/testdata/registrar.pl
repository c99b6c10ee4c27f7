# A session with Debian's Net::EPP, an independent EPP client.
#
#   perl registrar.pl PORT CA-FILE ACCOUNT PASSWORD OTHER-ACCOUNT OTHER-PASSWORD PART
#
# It prints a line for each step that succeeded, and dies at the first one that
# failed. PART is "before" or "after" the five days of a transfer, or "answers": what both
# sides can do before they are over.
use strict;
use warnings;
use Encode;
use Net::EPP::Simple;
use Net::EPP::Frame;

my ($port, $ca, $account, $password, $other, $other_password, $part) = @ARGV;

sub session {
	my ($user, $pass) = @_;
	my $epp = Net::EPP::Simple->new(
		host => '127.0.0.1', port => $port, user => $user, pass => $pass, timeout => 20,
		verify => 1, ca_file => $ca, load_config => 0, reconnect => 0,
	) or die "login of $user: $Net::EPP::Simple::Code $Net::EPP::Simple::Error\n";
	return $epp;
}

sub saw {
	my ($what, $right) = @_;
	die "$what: $Net::EPP::Simple::Code $Net::EPP::Simple::Message $Net::EPP::Simple::Error\n" unless $right;
	print "$what\n";
}

# The next message of a session, acknowledged; undef if there is none.
sub poll {
	my ($epp) = @_;
	my $answer = $epp->request(Net::EPP::Frame::Command::Poll::Req->new) or die "poll: no answer\n";
	return undef if $answer->code == 1300;
	die "poll: " . $answer->code . "\n" unless $answer->code == 1301;
	my $queue = $answer->getElementsByLocalName('msgQ')->shift;
	my $ack = Net::EPP::Frame::Command::Poll::Ack->new;
	$ack->setMsgID($queue->getAttribute('id'));
	my $acked = $epp->request($ack);
	die "ack: " . $acked->code . "\n" unless $acked->code == 1000;
	my $status = $answer->getElementsByLocalName('trStatus')->shift;
	return $status ? $status->textContent : $answer->msg;
}

my $ours   = session($account, $password);
my $theirs = session($other, $other_password);
print "login\n";

if ($part eq 'before') {
	saw('hello', $ours->ping);
	saw('check free', $ours->check_domain('fremde-namen.org') == 1);
	saw('check taken', $ours->check_domain('google.org') == 0);

	# Net::EPP does not encode characters, so they must be UTF-8 bytes already.
	my $contact = {
		id => 'fremde-1',
		postalInfo => { loc => { name => encode('UTF-8', "J\x{fc}rgen Fremd"), org => 'Fremd & Co', addr => {
			street => ['Weg 1', 'Hinterhaus'], city => encode('UTF-8', "K\x{f6}ln"), pc => '50667', cc => 'DE' } } },
		voice => '+49.22112345', fax => '', email => 'fremd@example.org', authInfo => 'geheim-1',
	};
	saw('contact create', $ours->create_contact($contact));
	my $seen = $ours->contact_info('fremde-1');
	saw('contact info', $seen && $seen->{postalInfo}->{loc}->{org} eq 'Fremd & Co'
		&& $seen->{postalInfo}->{loc}->{name} eq "J\x{fc}rgen Fremd" && $seen->{clID} eq $account);
	saw('contact check', $ours->check_contact('fremde-1') == 0);
	# Net::EPP writes an empty contact:add here, which the schema forbids.
	saw('contact update refused', !$ours->update_contact({ id => 'fremde-1', chg => { email => 'neu@example.org' } })
		&& $Net::EPP::Simple::Code == 2001);

	saw('host create', $ours->create_host({ name => 'ns1.fremde.example', addrs => [] }));
	my %domain = (
		registrant => 'fremde-1', contacts => { admin => 'fremde-1', tech => 'fremde-1', billing => 'fremde-1' },
		ns => ['ns1.fremde.example'], authInfo => 'geheim-2',
	);
	saw('domain create', $ours->create_domain({ %domain, name => 'fremde-namen.org', period => 2 }));
	saw('domain create again', !$ours->create_domain({ %domain, name => 'fremde-namen.org', period => 2 }) && $Net::EPP::Simple::Code == 2302);
	saw('host create with glue', $ours->create_host({
		name => 'ns1.fremde-namen.org', addrs => [{ ip => '192.0.2.44', version => 'v4' }, { ip => '2001:db8::44', version => 'v6' }] }));
	my $host = $ours->host_info('ns1.fremde-namen.org');
	saw('host info', $host && @{ $host->{addrs} } == 2 && $host->{clID} eq $account);

	my $info = $ours->domain_info('fremde-namen.org');
	saw('domain info', $info && $info->{clID} eq $account && $info->{registrant} eq 'fremde-1'
		&& $info->{contacts}->{tech} eq 'fremde-1' && $info->{ns}->[0] eq 'ns1.fremde.example' && $info->{authInfo} eq 'geheim-2');
	saw('domain update', $ours->update_domain({ name => 'fremde-namen.org', add => { status => { clientHold => 'unpaid' } } })
		&& $ours->update_domain({ name => 'fremde-namen.org', rem => { status => ['clientHold'] } }));
	saw('renew', $ours->renew_domain({ name => 'fremde-namen.org', cur_exp_date => substr($info->{exDate}, 0, 10), period => 1 }));
	my $renewed = $ours->domain_info('fremde-namen.org');
	saw('renewed', substr($renewed->{exDate}, 0, 4) == substr($info->{exDate}, 0, 4) + 1);

	saw('wrong authInfo', !$theirs->domain_transfer_request('fremde-namen.org', 'falsch', 1) && $Net::EPP::Simple::Code == 2202);
	my $transfer = $theirs->domain_transfer_request('fremde-namen.org', 'geheim-2', 1);
	saw('transfer request', $transfer && $transfer->{trStatus} eq 'pending' && $transfer->{reID} eq $other);
	saw('poll of the loser', poll($ours) eq 'pending');
	saw('nothing more to poll', !defined(poll($ours)));
} elsif ($part eq 'answers') {
	my $name = 'streit-namen.org';
	my $request = sub {
		my $transfer = $theirs->domain_transfer_request($name, 'geheim-3', 1);
		saw("request before $_[0]", $transfer && $transfer->{trStatus} eq 'pending' && $transfer->{acID} eq $account);
		saw('poll of the loser', poll($ours) eq 'pending');
	};
	# Net::EPP::Simple has no approve, reject and cancel; its frames have.
	my $answer = sub {
		my ($epp, $op) = @_;
		my $frame = Net::EPP::Frame::Command::Transfer::Domain->new;
		$frame->setOp($op);
		$frame->setDomain($name);
		return $epp->request($frame)->code;
	};
	my $status = sub { $ours->domain_transfer_query($name)->{trStatus} };
	saw('contact create', $ours->create_contact({
		id => 'streit-1', postalInfo => { loc => { name => 'Streit', addr => { street => ['Weg 1'], city => 'Bonn', pc => '53111', cc => 'DE' } } },
		voice => '+49.22812345', fax => '', email => 'streit@example.org', authInfo => 'geheim-1',
	}));
	saw('domain create', $ours->create_domain({
		name => $name, period => 1, registrant => 'streit-1', contacts => { admin => 'streit-1', tech => 'streit-1', billing => 'streit-1' },
		ns => [], authInfo => 'geheim-3',
	}));
	$request->('cancel');
	saw('the loser can not cancel', $answer->($ours, 'cancel') == 2201);
	saw('cancel', $answer->($theirs, 'cancel') == 1000 && $status->() eq 'clientCancelled' && poll($ours) eq 'clientCancelled');
	$request->('reject');
	saw('the winner can not approve', $answer->($theirs, 'approve') == 2201);
	saw('reject', $answer->($ours, 'reject') == 1000 && $status->() eq 'clientRejected' && poll($theirs) eq 'clientRejected');
	saw('reject twice', $answer->($ours, 'reject') == 2301);
	$request->('approve');
	saw('approve', $answer->($ours, 'approve') == 1000 && $status->() eq 'clientApproved');
	saw('poll of both', poll($ours) eq 'clientApproved' && poll($theirs) eq 'clientApproved');
	saw('moved', $theirs->domain_info($name)->{clID} eq $other);
} else {
	my $transfer = $ours->domain_transfer_query('fremde-namen.org');
	saw('transfer query', $transfer && $transfer->{trStatus} eq 'serverApproved');
	saw('poll of both', poll($ours) eq 'serverApproved' && poll($theirs) eq 'serverApproved');
	my $info = $theirs->domain_info('fremde-namen.org');
	saw('moved', $info && $info->{clID} eq $other);
	saw('not ours', !$ours->delete_domain('fremde-namen.org') && $Net::EPP::Simple::Code == 2201);
	saw('given back', $theirs->delete_host('ns1.fremde-namen.org') && $theirs->delete_domain('fremde-namen.org') && $Net::EPP::Simple::Code == 1001);
}
$_->logout for $ours, $theirs;
print "done\n";
